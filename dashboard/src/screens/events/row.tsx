/**
 * One row of the list. The whole row can be clicked; the link in it is what the keyboard and screen readers use. It is a
 * plain link, followed by the list: a link of the router costs more than all the rest of the row.
 */
import { memo } from 'react'
import type { EventView } from '../../api/client'
import { base } from '../../app/base'
import { number, visible } from '../../app/format'
import { StateBadge, Tag } from '../../ui/state'
import { Time } from '../../ui/time'

interface RowProps {
  readonly event: EventView
  readonly index: number
  readonly top: number
  readonly active: boolean
  readonly selectable: boolean
  readonly selected: boolean
  readonly onSelect: (event: EventView, selected: boolean) => void
  readonly onFocus: (seq: number) => void
}

export const Row = memo(function Row(props: RowProps) {
  const { event, index, top, active, selectable, selected, onSelect, onFocus } = props
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      className={`row${active ? ' active' : ''}${selected ? ' selected' : ''}`}
      data-seq={event.seq}
      style={{ transform: `translateY(${top}px)` }}
    >
      {selectable ? (
        <span role="cell" className="pick">
          <input
            type="checkbox"
            aria-label={`Select ${visible(event.id)}`}
            checked={selected}
            onChange={(change) => onSelect(event, change.target.checked)}
          />
        </span>
      ) : null}
      <span role="cell" className="c-state">
        <StateBadge event={event} />
      </span>
      <span role="cell" className="c-type cut" title={visible(event.type)}>
        {visible(event.type)}
      </span>
      <span role="cell" className="c-id cut">
        <a
          href={`${base}/events/${encodeURIComponent(event.source)}/${encodeURIComponent(event.id)}`}
          className="mono"
          title={visible(event.id)}
          onFocus={() => onFocus(event.seq)}
        >
          <bdi>{visible(event.id)}</bdi>
        </a>
      </span>
      <span role="cell" className="c-source cut">
        {visible(event.source)}
      </span>
      <span
        role="cell"
        className="c-reference cut mono"
        title={event.reference ? visible(event.reference) : ''}
      >
        {event.reference === null ? '' : <bdi>{visible(event.reference)}</bdi>}
      </span>
      <span role="cell" className="c-notes">
        <Notes event={event} />
      </span>
      <span role="cell" className="c-attempts num">
        {event.attempts > 0 ? number(event.attempts) : ''}
      </span>
      <span role="cell" className="c-time num">
        <Time at={event.receivedAt} />
      </span>
    </div>
  )
})

function Notes({ event }: { readonly event: EventView }) {
  const duplicates = event.deliveries - 1 - event.conflicts
  return (
    <>
      {duplicates > 0 ? (
        <span className="faint" title={`${number(event.deliveries)} deliveries`}>
          +{number(duplicates)} dup
        </span>
      ) : null}
      {event.conflicts > 0 ? <Tag tone="retrying">Conflict</Tag> : null}
      {event.sameAs !== null || event.contests !== null ? <Tag tone="retrying">Flagged</Tag> : null}
    </>
  )
}
