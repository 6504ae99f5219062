import { Time } from '../../ui/time'
import type { Moment } from './timeline'

/** The moments of an event as a list with a line through it. A long one is shortened in the middle. */
export function TimelineList({ moments }: { readonly moments: readonly Moment[] }) {
  const MOST = 60
  const shown =
    moments.length <= MOST ? moments : [...moments.slice(0, MOST / 2), ...moments.slice(-MOST / 2)]
  return (
    <ol className="timeline">
      {shown.map(({ at, title, detail, tone, future }, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two moments may be equal in everything else
        <li key={`${at} ${title} ${i}`} className={`${tone}${future ? ' future' : ''}`}>
          <div className="line apart">
            <span className="what">{title}</span>
            <span className="faint">
              <Time at={at} />
            </span>
          </div>
          {detail === null ? null : <div className="muted wrap">{detail}</div>}
          {moments.length > MOST && i === MOST / 2 - 1 ? (
            <div className="faint">… {moments.length - MOST} more …</div>
          ) : null}
        </li>
      ))}
    </ol>
  )
}
