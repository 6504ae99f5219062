/** What the other consumers of the same event have done: each has its own state and attempts. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { EventView } from '../../api/client'
import { siblingsQuery } from '../../api/queries'
import { number, visible } from '../../app/format'
import { Card } from '../../ui/card'
import { StateBadge } from '../../ui/state'
import { num, TableBox } from '../../ui/table-box'
import { Time } from '../../ui/time'
import { siblingsOf } from './siblings'

export function Consumers({ event }: { readonly event: EventView }) {
  const { data } = useQuery(siblingsQuery(event))
  const siblings = siblingsOf(event, data?.events ?? [])
  if (siblings.length < 2) return null
  return (
    <Card title="Consumers" flush>
      <TableBox label="Table of consumers" columns={['Consumer', 'State', ...num('Attempts', 'Finished')]}>
        {siblings.map((one) => (
          <tr key={one.source}>
            <td>
              {one.source === event.source ? (
                <b>{nameOf(one)}</b>
              ) : (
                <Link to="/events/$source/$id" params={{ source: one.source, id: one.id }}>
                  {nameOf(one)}
                </Link>
              )}
            </td>
            <td>
              <StateBadge event={one} />
            </td>
            <td className="num">{number(one.attempts)}</td>
            <td className="num">
              <Time at={one.processedAt} />
            </td>
          </tr>
        ))}
      </TableBox>
    </Card>
  )
}

function nameOf({ source }: EventView): string {
  return visible(source.includes('/') ? source.slice(source.indexOf('/') + 1) : 'main')
}
