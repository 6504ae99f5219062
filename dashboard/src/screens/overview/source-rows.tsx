/** A row for each source that received something in this time, the busiest first. */
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Overview } from '../../api/screen-queries'
import { count, ms, number, short, visible } from '../../app/format'
import type { Window } from '../../app/search'
import { Button } from '../../ui/button'
import { Card, Inside } from '../../ui/card'
import { Empty } from '../../ui/feedback'
import { Sparkline } from '../../ui/sparkline'
import { num, TableBox } from '../../ui/table-box'

const FIRST = 12

export function SourceRows({ data, window: since }: { readonly data: Overview; readonly window: Window }) {
  const [all, setAll] = useState(false)
  const busy = data.sources
    .filter(({ totals }) => totals.received + totals.rejected + totals.succeeded + totals.failed > 0)
    .sort((a, b) => b.totals.received - a.totals.received)
  const shown = all ? busy : busy.slice(0, FIRST)
  return (
    <Card title="Sources" flush aside={<Link to="/sources">All sources</Link>}>
      {busy.length === 0 ? <Empty>No source received anything in this time.</Empty> : null}
      {shown.length > 0 ? (
        <TableBox
          label="Sources of this time"
          columns={[
            'Source',
            'Received',
            ...num('Deliveries', 'Duplicates', 'Failed', 'Rejected', 'Handle p95'),
          ]}
        >
          {shown.map(({ source, totals, received, latency }) => (
            <tr key={source}>
              <td>
                <Link to="/events" search={{ source, since }}>
                  {visible(source)}
                </Link>
              </td>
              <td>
                <Sparkline
                  values={received}
                  label={`${count(totals.received, 'delivery', 'deliveries')} over time`}
                />
              </td>
              <td className="num" title={number(totals.received)}>
                {short(totals.received)}
              </td>
              <td className="num">{short(totals.duplicates)}</td>
              <td className="num">{short(totals.failed)}</td>
              <td className="num">{short(totals.rejected)}</td>
              <td className="num">{ms(latency.handle.p95Ms)}</td>
            </tr>
          ))}
        </TableBox>
      ) : null}
      {busy.length > shown.length ? (
        <Inside>
          <Button small onClick={() => setAll(true)}>
            Show all {number(busy.length)}
          </Button>
        </Inside>
      ) : null}
    </Card>
  )
}
