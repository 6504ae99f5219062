/**
 * One row of the list. The whole row can be clicked; the link in it is what the keyboard and screen readers use. It is a
 * plain link, followed by the list: a link of the router costs more than all the rest of the row.
 */
import { memo } from 'react'
import type { EventView } from '../../api/client'
import { base } from '../../app/base'
import { number, visible } from '../../app/format'
import { hasOpenConflict, StateBadge, Tag } from '../../ui/state'
import { Time } from '../../ui/time'
import { TypeName } from '../../ui/type-name'
import { WaitingNote } from '../../ui/waiting'
import css from './row.module.css'
import type { Selection } from './selection'

const columns = [
  [css.state, 'State'],
  [css.type, 'Type'],
  [css.id, 'Id'],
  [css.source, 'Source'],
  [css.reference, 'Reference'],
  [css.notes, null],
  [css.attempts, 'Attempts'],
  [css.time, 'Received'],
] as const

interface HeadRowProps {
  readonly rows: readonly EventView[]
  readonly selection: Selection
  readonly selectable: boolean
  /** The title of the column with errors, reasons and marks. */
  readonly notes: string
}

export function HeadRow({ rows, selection, selectable, notes }: HeadRowProps) {
  const every = selection.all || (selection.events.length > 0 && selection.events.length >= rows.length)
  return (
    <div
      role="row"
      className={`${css.row} ${css.head} ${selectable ? css.selectable : ''}`}
      aria-rowindex={1}
    >
      {selectable ? (
        <span role="columnheader" className={css.pick} tabIndex={-1}>
          <input
            type="checkbox"
            aria-label="Select all loaded events"
            checked={every}
            onChange={() => (every ? selection.clear() : selection.setMany(rows))}
          />
        </span>
      ) : null}
      {columns.map(([name, text]) => (
        <span key={name} role="columnheader" className={name} tabIndex={-1}>
          {text ?? notes}
        </span>
      ))}
    </div>
  )
}

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
      className={`${css.row} ${css.event} ${selectable ? css.selectable : ''} ${active ? css.active : ''} ${selected ? css.selected : ''}`}
      data-seq={event.seq}
      style={{ transform: `translateY(${top}px)` }}
    >
      {selectable ? (
        <span role="cell" className={css.pick}>
          <input
            type="checkbox"
            aria-label={`Select ${visible(event.id)}`}
            checked={selected}
            onChange={(change) => onSelect(event, change.target.checked)}
          />
        </span>
      ) : null}
      <span role="cell" className={css.state}>
        <StateBadge event={event} />
      </span>
      <span role="cell" className={css.type}>
        <TypeName type={event.type} />
      </span>
      <span role="cell" className={`${css.id} cut`}>
        <a
          href={`${base}/events/${encodeURIComponent(event.source)}/${encodeURIComponent(event.id)}`}
          className="mono"
          title={visible(event.id)}
          onFocus={() => onFocus(event.seq)}
        >
          <bdi>{visible(event.id)}</bdi>
        </a>
      </span>
      <span role="cell" className={`${css.source} cut`}>
        {visible(event.source)}
      </span>
      <span
        role="cell"
        className={`${css.reference} cut mono`}
        title={event.reference ? visible(event.reference) : ''}
      >
        {event.reference === null ? '' : <bdi>{visible(event.reference)}</bdi>}
      </span>
      <span role="cell" className={css.notes}>
        <Notes event={event} />
      </span>
      <span role="cell" className={css.attempts}>
        {event.attempts > 0 ? number(event.attempts) : ''}
      </span>
      <span role="cell" className={css.time}>
        <Time at={event.receivedAt} />
      </span>
    </div>
  )
})

function Notes({ event }: { readonly event: EventView }) {
  const duplicates = event.deliveries - 1 - event.conflicts
  return (
    <>
      {event.reason === null ? null : (
        <span className={`${css.reason} cut`} title={visible(event.reason.slice(0, 1_000))}>
          {visible(event.reason.split('\n', 1)[0]!)}
        </span>
      )}
      {duplicates > 0 ? (
        <span className={`${css.mark} faint`} title={`${number(event.deliveries)} deliveries`}>
          +{number(duplicates)} dup
        </span>
      ) : null}
      <WaitingNote waiting={event.waiting} />
      {hasOpenConflict(event) ? <Tag tone="retrying">Conflict</Tag> : null}
      {event.sameAs !== null ? <Tag tone="retrying">Flagged</Tag> : null}
    </>
  )
}
