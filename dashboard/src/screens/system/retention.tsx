import { duration, number, visible } from '../../app/format'
import { Card, Footnote } from '../../ui/card'
import { Tag } from '../../ui/state'
import { num, TableBox } from '../../ui/table-box'
import type { SystemView } from './system'

const MOST = 20

export function RetentionCard({ system: { retention } }: { readonly system: SystemView }) {
  const { on, policy, runs, failures, removed } = retention
  // Sources with the same ages share a row.
  const rows = new Map<string, { sources: string[]; ages: (number | null)[] }>()
  for (const { source, payloadsMs, eventsMs, attemptsMs, auditsMs } of policy) {
    const ages = [payloadsMs, eventsMs, attemptsMs, auditsMs]
    const row = rows.get(ages.join())
    if (row) row.sources.push(source)
    else rows.set(ages.join(), { sources: [source], ages })
  }
  return (
    <Card
      title="Retention"
      flush
      aside={
        failures > 0 ? (
          <Tag tone="dead">{`${number(failures)} failed runs`}</Tag>
        ) : (
          <Tag tone={on ? 'succeeded' : 'ignored'}>{on ? 'On' : 'Off'}</Tag>
        )
      }
    >
      <TableBox label="Ages" columns={['Sources', ...num('Payloads', 'Events', 'Attempts', 'Audit')]}>
        {[...rows.values()].slice(0, MOST).map(({ sources, ages }) => (
          <tr key={sources[0]}>
            <td className="wrap">
              {sources.slice(0, 6).map(visible).join(', ')}
              {sources.length > 6 ? ` and ${number(sources.length - 6)} more` : ''}
            </td>
            {ages.map((age, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the columns have a fixed order
              <td key={i} className="num">
                {age === null ? 'for ever' : duration(age)}
              </td>
            ))}
          </tr>
        ))}
      </TableBox>
      <Footnote>
        {number(runs)} runs by this process. Removed: {number(removed.payloads)} payloads,{' '}
        {number(removed.events)} events, {number(removed.attempts)} attempts, {number(removed.audits)} audit
        entries.
      </Footnote>
    </Card>
  )
}
