/** The virtual list: only the rows in view are in the page, however long the log is. */
import { useNavigate } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type MouseEvent, type RefObject, useCallback, useEffect, useRef, useState } from 'react'
import type { EventView } from '../../api/client'
import { visible } from '../../app/format'
import { useShortcuts } from '../../app/shortcuts'
import { useNarrow } from '../../app/use-narrow'
import { copyAndSay } from '../../ui/copy'
import { Row } from './row'
import type { Selection } from './selection'
import type { Events } from './use-events'

const ROW = 36
const NARROW_ROW = 76

interface ListProps {
  readonly events: Events
  readonly selection: Selection
  readonly selectable: boolean
  readonly box: RefObject<HTMLDivElement | null>
  readonly onAct: (event: EventView) => void
}

export function List({ events, selection, selectable, box, onAct }: ListProps) {
  const { rows, hasMore, isLoadingMore, loadMore, loadsByItself } = events
  const narrow = useNarrow()
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => (narrow ? NARROW_ROW : ROW),
    getItemKey: (index) => rows[index]!.seq,
    overscan: 12,
    // A rendering inside the scroll event would hold up the scrolling.
    useFlushSync: false,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height of a row depends on the width of the window
  useEffect(() => virtual.measure(), [narrow])
  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? -1
  useEffect(() => {
    if (loadsByItself && hasMore && !isLoadingMore && last >= rows.length - 30) loadMore()
  }, [last, rows.length, hasMore, isLoadingMore, loadMore, loadsByItself])

  const [active, setActive] = useActiveRow(rows, box, (index) => virtual.scrollToIndex(index))
  const navigate = useNavigate()
  const current = () => rows.find(({ seq }) => seq === active)
  const show = ({ source, id }: EventView) =>
    void navigate({ to: '/events/$source/$id', params: { source, id } })
  function follow(click: MouseEvent<HTMLElement>): void {
    const isPlain = click.button === 0 && !(click.metaKey || click.ctrlKey || click.shiftKey || click.altKey)
    const link = (click.target as Element).closest('a')
    const row = link?.closest<HTMLElement>('[data-seq]')
    const event = row && rows.find(({ seq }) => String(seq) === row.dataset.seq)
    if (!event || !isPlain) return // a new tab or window is the browser's
    click.preventDefault()
    show(event)
  }
  useShortcuts({
    Enter: () => {
      const event = current()
      if (event) show(event)
    },
    x: () => {
      const event = current()
      if (event && selectable) selection.set(event, !selection.has(event.seq))
    },
    c: () => {
      const event = current()
      if (event) void copyAndSay(event.id, visible(event.id))
    },
    r: () => {
      const event = current()
      if (event) onAct(event)
    },
  })

  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Enter on a link is a click
    <div style={{ position: 'relative', height: virtual.getTotalSize() }} role="rowgroup" onClick={follow}>
      {items.map(({ index, start, key }) => {
        const event = rows[index]!
        return (
          <Row
            key={key}
            event={event}
            index={index}
            top={start}
            active={event.seq === active}
            selectable={selectable}
            selected={selection.has(event.seq)}
            onSelect={selection.set}
            onFocus={setActive}
          />
        )
      })}
    </div>
  )
}

/** The row of the keyboard. It is kept by the event, so new rows above do not change it. */
function useActiveRow(
  rows: readonly EventView[],
  box: RefObject<HTMLDivElement | null>,
  scrollTo: (index: number) => void,
): [number | null, (seq: number) => void] {
  const [active, setActive] = useState<number | null>(null)
  const wanted = useRef<number | null>(null)
  useEffect(() => {
    if (wanted.current === null) return
    const link = box.current?.querySelector<HTMLElement>(`[data-seq="${wanted.current}"] a`)
    if (!link) return
    wanted.current = null
    link.focus({ preventScroll: true })
  })
  function move(step: number): void {
    const at = rows.findIndex(({ seq }) => seq === active)
    const next = Math.min(rows.length - 1, Math.max(0, at + step))
    const row = rows[next]
    if (row === undefined) return
    wanted.current = row.seq
    setActive(row.seq)
    scrollTo(next)
  }
  useShortcuts({ j: () => move(1), k: () => move(-1) })
  return [active, useCallback((seq: number) => setActive(seq), [])]
}
