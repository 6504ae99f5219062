/** How long acknowledging and handling take. */
import type { Overview } from '../../api/screen-queries'
import { duration } from '../../app/format'
import { Card } from '../../ui/card'
import { TableBox } from '../../ui/table-box'

const rows = [
  ['ack', 'Acknowledge'],
  ['handle', 'Handle'],
] as const

export function ms(value: number | null): string {
  return value === null ? '–' : duration(value)
}

export function LatencyTable({ latency }: Pick<Overview, 'latency'>) {
  return (
    <Card title="Latency" flush>
      <TableBox label="Latencies">
        <thead>
          <tr>
            <th scope="col">Step</th>
            <th scope="col" className="num">
              p50
            </th>
            <th scope="col" className="num">
              p95
            </th>
            <th scope="col" className="num">
              p99
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([key, name]) => (
            <tr key={key}>
              <td>{name}</td>
              <td className="num">{ms(latency[key].p50Ms)}</td>
              <td className="num">{ms(latency[key].p95Ms)}</td>
              <td className="num">{ms(latency[key].p99Ms)}</td>
            </tr>
          ))}
        </tbody>
      </TableBox>
    </Card>
  )
}
