import type { Overview } from '../../api/screen-queries'
import { ms } from '../../app/format'
import { Card } from '../../ui/card'
import { num, TableBox } from '../../ui/table-box'

const rows = [
  ['ack', 'Acknowledge'],
  ['handle', 'Handle'],
] as const

export function LatencyTable({ latency }: Pick<Overview, 'latency'>) {
  return (
    <Card title="Latency" flush>
      <TableBox label="Latencies" columns={['Step', ...num('p50', 'p95', 'p99')]}>
        {rows.map(([key, name]) => (
          <tr key={key}>
            <td>{name}</td>
            <td className="num">{ms(latency[key].p50Ms)}</td>
            <td className="num">{ms(latency[key].p95Ms)}</td>
            <td className="num">{ms(latency[key].p99Ms)}</td>
          </tr>
        ))}
      </TableBox>
    </Card>
  )
}
