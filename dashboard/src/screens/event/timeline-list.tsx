import { clock, duration } from '../../app/format'
import { usePreferences } from '../../app/preferences'
import { Time } from '../../ui/time'
import type { Moment } from './timeline'
import css from './timeline-list.module.css'

const MOST = 60

/** The moments of an event as a list with a line through it. A long one is shortened in the middle. */
export function TimelineList({ moments }: { readonly moments: readonly Moment[] }) {
  const utc = usePreferences().times === 'utc'
  const all = moments.map((moment, i) => ({ ...moment, sinceMs: sinceMs(moments[i - 1], moment) }))
  const shown = all.length <= MOST ? all : [...all.slice(0, MOST / 2), ...all.slice(-MOST / 2)]
  return (
    <ol className={css.timeline}>
      {shown.map(({ at, title, detail, tone, future, sinceMs: since }, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two moments may be equal in everything else
        <li key={`${at} ${title} ${i}`} className={`${tone} ${future ? css.future : ''}`}>
          <div className={css.moment}>
            {title}
            <Time at={at} />
          </div>
          {detail === null ? null : <div className="muted wrap">{detail}</div>}
          <div className={css.exact}>
            {clock(Date.parse(at), utc)}
            {since === null ? null : <span> +{since < 1 ? '0 ms' : duration(since)}</span>}
          </div>
          {moments.length > MOST && i === MOST / 2 - 1 ? (
            <div className="faint">… {moments.length - MOST} more …</div>
          ) : null}
        </li>
      ))}
    </ol>
  )
}

/** Null for the first. */
function sinceMs(before: Moment | undefined, { at }: Moment): number | null {
  return before === undefined ? null : Math.max(0, Date.parse(at) - Date.parse(before.at))
}
