/** How many events match. Beyond a thousand the list says so and does not count on. */
import { useQuery } from '@tanstack/react-query'
import { statsQuery } from '../../api/queries'
import { countQuery } from '../../api/screen-queries'
import { count, number } from '../../app/format'
import type { EventsSearch } from '../../app/search'
import css from './events.module.css'
import { hasFilter, queryOf } from './filters'

export function Tally({ search }: { readonly search: EventsSearch }) {
  const { q, path } = search
  const filtered = hasFilter(search)
  const { data } = useQuery(countQuery(filtered && path === undefined ? { ...queryOf(search), q } : null))
  const { data: stats } = useQuery({ ...statsQuery, enabled: !filtered })
  const all = stats?.sources.reduce((sum, { recorded }) => sum + recorded, 0)
  const text = filtered
    ? data && (data.more ? `${number(data.count)}+ events` : count(data.count, 'event'))
    : all !== undefined && count(all, 'event')
  return (
    <span className={`${css.tally} faint`} role="status" aria-label="Number of events">
      {path === undefined ? text || '' : ''}
    </span>
  )
}
