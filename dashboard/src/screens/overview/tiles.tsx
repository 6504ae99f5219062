/** The figures of the chosen time, each a link to its events. */
import { Link } from '@tanstack/react-router'
import type { Overview } from '../../api/screen-queries'
import { duration, number, short } from '../../app/format'
import type { EventsSearch, Window } from '../../app/search'
import css from './tiles.module.css'

interface Tile {
  readonly name: string
  readonly value: string
  readonly exact: string
  readonly note: string
  readonly tone?: 'dead' | 'retrying'
  /** Of the events that it counts. Null: the dead letters have a screen of their own. */
  readonly search: EventsSearch | null
}

export function Tiles({ data, window }: { readonly data: Overview; readonly window: Window }) {
  return (
    <ul className={css.tiles}>
      {tilesOf(data, window).map(({ name, value, exact, note, tone, search }) => (
        <li key={name}>
          <Link
            to={search ? '/events' : '/dead-letters'}
            search={search ?? {}}
            className={`${css.tile} ${tone ?? ''}`}
          >
            <span className={css.name}>{name}</span>
            <span className={css.value} title={exact}>
              {value}
            </span>
            <span className={css.note}>{note}</span>
          </Link>
        </li>
      ))}
    </ul>
  )
}

function tilesOf({ totals, now }: Overview, since: Window): Tile[] {
  const figure = (value: number) => ({ value: short(value), exact: number(value) })
  const approximate = now.estimated ? 'about, ' : ''
  return [
    {
      name: 'Received',
      ...figure(totals.received),
      note: `${short(totals.recorded)} new events`,
      search: { since },
    },
    {
      name: 'Duplicates stopped',
      ...figure(totals.duplicates),
      note: share(totals.duplicates, totals.received),
      search: { since, hasDuplicates: 'true' },
    },
    {
      name: 'Succeeded',
      ...figure(totals.succeeded),
      note: `${short(totals.ignored)} ignored`,
      search: { since, state: 'succeeded' },
    },
    {
      name: 'Failed attempts',
      ...figure(totals.failed),
      note: `${approximate}${short(now.retrying)} retrying now`,
      ...(now.retrying > 0 ? { tone: 'retrying' as const } : {}),
      search: { state: 'failed', dead: 'false' },
    },
    {
      name: 'Dead letters',
      ...figure(now.dead),
      note: `${short(totals.dead)} in this time`,
      ...(now.dead > 0 ? { tone: 'dead' as const } : {}),
      search: null,
    },
    {
      name: 'Conflicts',
      ...figure(totals.conflicts),
      note: `${short(totals.rejected)} rejected deliveries`,
      ...(totals.conflicts > 0 ? { tone: 'retrying' as const } : {}),
      search: { since, hasConflict: 'true' },
    },
    {
      name: 'Oldest unprocessed',
      value: now.oldestDueAgeMs === null ? 'None' : duration(Math.max(0, now.oldestDueAgeMs)),
      exact: now.oldestDueAt ?? '',
      note: `${approximate}${short(now.pending)} pending, ${short(now.processing)} in work`,
      ...((now.oldestDueAgeMs ?? 0) > 300_000 ? { tone: 'retrying' as const } : {}),
      search: { state: 'pending' },
    },
  ]
}

function share(part: number, whole: number): string {
  return whole === 0 ? 'of no deliveries' : `${Math.round((100 * part) / whole)}% of deliveries`
}
