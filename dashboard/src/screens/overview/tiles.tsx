/** The figures of the chosen time, each a link to its events. */
import { Link } from '@tanstack/react-router'
import type { Overview } from '../../api/screen-queries'
import { duration, number, short } from '../../app/format'
import type { EventsSearch, Window } from '../../app/search'
import { waitingShort } from '../../ui/waiting-words'
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
  const approximate = now.estimated ? 'about, ' : ''
  const tile = (
    name: string,
    value: number,
    note: string,
    search: Tile['search'],
    tone?: Tile['tone'] | false,
  ): Tile => ({ name, value: short(value), exact: number(value), note, search, tone: tone || undefined })
  const { received, duplicates, succeeded, failed, conflicts } = totals
  const retrying = `${approximate}${short(now.retrying)} retrying now`
  const waitsLong = (now.oldest?.ageMs ?? 0) > 300_000
  const why = now.oldest?.waiting && waitingShort(now.oldest.waiting, Date.now())
  return [
    tile('Received', received, `${short(totals.recorded)} new events`, { since }),
    tile('Duplicates stopped', duplicates, share(duplicates, received), { since, hasDuplicates: 'true' }),
    tile('Succeeded', succeeded, `${short(totals.ignored)} ignored`, { since, state: 'succeeded' }),
    tile(
      'Failed attempts',
      failed,
      retrying,
      { state: 'failed', dead: 'false' },
      now.retrying > 0 && 'retrying',
    ),
    tile('Dead letters', now.dead, `${short(totals.dead)} in this time`, null, now.dead > 0 && 'dead'),
    tile(
      'Conflicts',
      conflicts,
      `${short(totals.rejected)} rejected deliveries`,
      { since, hasConflict: 'true' },
      conflicts > 0 && 'retrying',
    ),
    {
      name: 'Oldest unprocessed',
      value: now.oldest === null ? 'None' : duration(now.oldest.ageMs),
      exact: now.oldest?.receivedAt ?? '',
      note: [why, `${approximate}${short(now.pending)} pending, ${short(now.processing)} in work`]
        .filter((text) => text)
        .join('; '),
      search: {
        state: now.pending > 0 ? 'pending' : 'failed',
        ...(now.pending > 0 ? {} : { dead: 'false' }),
      },
      tone: waitsLong ? 'retrying' : undefined,
    },
  ]
}

function share(part: number, whole: number): string {
  return whole === 0 ? 'of no deliveries' : `${Math.round((100 * part) / whole)}% of deliveries`
}
