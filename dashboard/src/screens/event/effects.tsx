/** The effects that `ctx.once` keeps from happening twice. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { EventView } from '../../api/client'
import { effectsQuery } from '../../api/queries'
import { useMay } from '../../api/session'
import { visible } from '../../app/format'
import { Button } from '../../ui/button'
import { Card, Footnote, Inside } from '../../ui/card'
import { Tag } from '../../ui/state'
import { TableBox } from '../../ui/table-box'
import { Time } from '../../ui/time'
import { EffectsDialog } from './effects-dialog'
import { undecidedOf } from './undecided'

export function Effects({ event }: { readonly event: EventView }) {
  const may = useMay()
  const [deciding, setDeciding] = useState(false)
  const { data } = useQuery(effectsQuery(event))
  if (data === undefined || data.effects.length === 0) return null
  const undecided = undecidedOf(event, data.effects)
    .map(({ name }) => name)
    .filter((name) => name !== null)
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
      {may.act && undecided.length > 0 ? (
        <Inside>
          <Button icon="review" onClick={() => setDeciding(true)}>
            Decide about effects
          </Button>
        </Inside>
      ) : null}
      {deciding ? (
        <EffectsDialog
          // An answer is about the calls that were made when it was given: another attempt may have made a new one.
          key={event.attempts}
          event={event}
          names={undecided}
          onClose={() => setDeciding(false)}
        />
      ) : null}
      <Footnote>A finished effect does not happen again, also when the event is replayed.</Footnote>
    </Card>
  )
}
