/** The effects that `ctx.once` keeps from happening twice. */
import { useQuery } from '@tanstack/react-query'
import type { EventKey } from '../../api/client'
import { effectsQuery } from '../../api/queries'
import { visible } from '../../app/format'
import { Card, Footnote } from '../../ui/card'
import { Tag } from '../../ui/state'
import { TableBox } from '../../ui/table-box'
import { Time } from '../../ui/time'

export function Effects({ event }: { readonly event: EventKey }) {
  const { data } = useQuery(effectsQuery(event))
  if (data === undefined || data.effects.length === 0) return null
  return (
    <Card title="Effects" flush>
      <TableBox label="Table of effects" columns={['Key', 'State', 'Finished']}>
        {data.effects.map(({ name, state, startedAt, finishedAt }, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the name is hidden from viewers, and two may be equal then
          <tr key={`${name} ${i}`}>
            <td className="mono wrap">{name === null ? 'not shown to your role' : visible(name)}</td>
            <td>
              {state === 'finished' ? (
                <Tag tone="succeeded">Done once</Tag>
              ) : (
                <Tag tone="retrying">Started, end unknown</Tag>
              )}
            </td>
            <td>
              <Time at={finishedAt ?? startedAt} />
            </td>
          </tr>
        ))}
      </TableBox>
      <Footnote>A finished effect does not happen again, also when the event is replayed.</Footnote>
    </Card>
  )
}
