/** A search that found nothing, or not yet: what to try next. */
import { useMay } from '../../api/session'
import { bytes, number, visible } from '../../app/format'
import type { EventsSearch } from '../../app/search'
import { Button } from '../../ui/button'
import { Empty } from '../../ui/feedback'
import css from './events.module.css'
import type { Events } from './use-events'

/** Any value that contains the text, at any depth of the payloads. */
export function payloadSearchFor(text: string): EventsSearch {
  return { q: undefined, path: '**', op: 'contains', value: text }
}

interface NothingProps {
  readonly search: EventsSearch
  readonly onChange: (change: EventsSearch) => void
}

export function NothingFound({ search, onChange }: NothingProps) {
  const may = useMay()
  const { q, path } = search
  if (path !== undefined) return <Empty title="No payload matches">All of them were read.</Empty>
  if (q === undefined) return <Empty title="No event matches">Remove a filter to see more.</Empty>
  return (
    <Empty title={`No event has the id, reference or type “${visible(q)}”`}>
      {may.payload ? (
        <>
          <p>It may be somewhere in a payload, such as an e-mail address or the id of another object.</p>
          <Button look="primary" icon="search" onClick={() => onChange(payloadSearchFor(q))}>
            Search payloads for this
          </Button>
        </>
      ) : (
        <p>An admin can search the payloads for it.</p>
      )}
    </Empty>
  )
}

/** Reading more payloads costs the database, and is audited: the person decides. */
export function ReadFurther({ events }: { readonly events: Events }) {
  const { cost, rows, hasMore, isLoadingMore, loadMore } = events
  if (cost === null) return null
  const read = `Read the ${number(cost.events)} newest payloads (${bytes(cost.bytes)})`
  return (
    <div className={`line ${css.further}`}>
      <span className="faint">
        {rows.length === 0 && hasMore ? `${read}: none matches yet.` : hasMore ? `${read}.` : `${read}: all.`}
      </span>
      {hasMore ? (
        <Button
          small
          look={rows.length === 0 ? 'primary' : undefined}
          disabled={isLoadingMore}
          onClick={loadMore}
        >
          {isLoadingMore ? 'Searching…' : 'Search older payloads'}
        </Button>
      ) : null}
    </div>
  )
}
