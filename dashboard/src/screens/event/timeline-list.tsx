import { Time } from '../../ui/time'
import type { Moment } from './timeline'
import css from './timeline-list.module.css'

const MOST = 60

/** The moments of an event as a list with a line through it. A long one is shortened in the middle. */
export function TimelineList({ moments }: { readonly moments: readonly Moment[] }) {
  const shown =
    moments.length <= MOST ? moments : [...moments.slice(0, MOST / 2), ...moments.slice(-MOST / 2)]
  return (
    <ol className={css.timeline}>
      {shown.map(({ at, title, detail, tone, future }, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two moments may be equal in everything else
        <li key={`${at} ${title} ${i}`} className={`${tone} ${future ? css.future : ''}`}>
          <div className={css.moment}>
            {title}
            <Time at={at} />
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
