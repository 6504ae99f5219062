/** The payload as a tree. Values are text, always: nothing a sender wrote becomes a link or markup. */
import { useVirtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react'
import { number, visible } from '../../app/format'
import { Button } from '../../ui/button'
import { copyAndSay } from '../../ui/copy'
import { ExactNumber, type Json } from './bytes'
import lines from './lines.module.css'
import css from './tree.module.css'
import { findIn, openAll, openAtFirst, rowsOf, type TreeRow } from './tree-rows'

const ROW = 24
const SHOWN_TEXT = 300

export function Tree({ root }: { readonly root: Json }) {
  const [open, setOpen] = useState(() => openAtFirst(root))
  const [active, setActive] = useState(0)
  const [search, setSearch] = useState('')
  const [hit, setHit] = useState(0)
  const hits = useMemo(() => findIn(root, search), [root, search])
  const hitPaths = useMemo(() => new Set(hits.paths), [hits])
  const rows = useMemo(
    () => rowsOf(root, (path) => open.has(path) || hits.open.has(path)),
    [root, open, hits],
  )
  const box = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW,
    overscan: 20,
  })

  const current = hits.paths[hit]
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another match moves the view
  useEffect(() => {
    const index = rows.findIndex(({ path }) => path === current)
    if (index < 0) return
    setActive(index)
    virtual.scrollToIndex(index, { align: 'auto' })
  }, [current])

  function onSearchKey(event: KeyboardEvent): void {
    if (event.key !== 'Enter' || hits.paths.length === 0) return
    event.preventDefault()
    const step = event.shiftKey ? -1 : 1
    setHit((hit + step + hits.paths.length) % hits.paths.length)
  }

  function toggle(row: TreeRow, to = !row.open): void {
    if (row.size === null) return
    setOpen((before) => {
      const after = new Set(before)
      if (to) after.add(row.path)
      else after.delete(row.path)
      return after
    })
  }

  function onKeyDown(event: KeyboardEvent): void {
    const row = rows[active]
    const to = (index: number) => {
      const next = Math.min(rows.length - 1, Math.max(0, index))
      setActive(next)
      virtual.scrollToIndex(next)
    }
    const keys: Record<string, () => void> = {
      ArrowDown: () => to(active + 1),
      ArrowUp: () => to(active - 1),
      Home: () => to(0),
      End: () => to(rows.length - 1),
      ArrowRight: () => (row && !row.open && row.size ? toggle(row, true) : to(active + 1)),
      ArrowLeft: () => (row?.open ? toggle(row, false) : to(parentOf(rows, active))),
      Enter: () => (row ? toggle(row) : undefined),
    }
    const act = keys[event.key]
    if (act === undefined) return
    event.preventDefault()
    act()
  }

  return (
    <>
      <div className={`line ${css.tools}`}>
        <input
          className={`input filter ${css.search}`}
          aria-label="Search in the payload"
          placeholder="Search in the payload"
          spellCheck={false}
          value={search}
          onChange={(event) => {
            setSearch(event.target.value)
            setHit(0)
          }}
          onKeyDown={onSearchKey}
        />
        <span className="faint" role="status">
          {search === ''
            ? ''
            : hits.paths.length === 0
              ? 'none'
              : `${number(hit + 1)} of ${number(hits.paths.length)}`}
        </span>
        <Button small look="quiet" onClick={() => setOpen(openAll(root))}>
          Open all
        </Button>
        <Button small look="quiet" onClick={() => setOpen(new Set(['$']))}>
          Close all
        </Button>
        {rows[active] ? (
          <Button
            small
            look="quiet"
            icon="copy"
            onClick={() => void copyAndSay(rows[active]!.path, 'the path')}
          >
            {shorten(rows[active].path, 60)}
          </Button>
        ) : null}
      </div>
      <div
        ref={box}
        className={lines.viewer}
        style={{ height: Math.min(460, virtual.getTotalSize() + 2) }}
        role="tree"
        aria-label="Payload"
        tabIndex={0}
        aria-activedescendant={`tree-${active}`}
        onKeyDown={onKeyDown}
      >
        <div className={lines.rows} role="presentation" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start }) => (
            <TreeItem
              key={rows[index]!.path}
              row={rows[index]!}
              index={index}
              top={start}
              active={index === active}
              hit={hitPaths.has(rows[index]!.path)}
              onClick={() => {
                setActive(index)
                toggle(rows[index]!)
              }}
            />
          ))}
        </div>
      </div>
    </>
  )
}

function parentOf(rows: readonly TreeRow[], index: number): number {
  const level = rows[index]?.level ?? 1
  for (let at = index - 1; at >= 0; at--) if (rows[at]!.level < level) return at
  return index
}

interface TreeItemProps {
  readonly row: TreeRow
  readonly index: number
  readonly top: number
  readonly active: boolean
  readonly hit: boolean
  readonly onClick: () => void
}

function TreeItem({ row, index, top, active, hit, onClick }: TreeItemProps) {
  const { name, level, size, open, value } = row
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree has the focus and the keys
    <div
      role="treeitem"
      id={`tree-${index}`}
      aria-level={level}
      aria-posinset={row.position}
      aria-setsize={row.siblings}
      aria-expanded={size === null ? undefined : open}
      aria-selected={active}
      className={`${css.row} ${hit ? css.hit : ''} ${active ? css.active : ''}`}
      style={{ transform: `translateY(${top}px)`, paddingLeft: Math.min(level, 30) * 14 }}
      onClick={onClick}
    >
      <span className={css.twist} aria-hidden="true">
        {size === null || size === 0 ? '' : open ? '▾' : '▸'}
      </span>
      {name === null ? null : (
        <>
          <bdi className={css.key}>{shorten(visible(name), 120)}</bdi>
          <span className="faint">:&nbsp;</span>
        </>
      )}
      <Value value={value} size={size} open={open} />
    </div>
  )
}

function Value({ value, size, open }: Pick<TreeRow, 'value' | 'size' | 'open'>) {
  if (size !== null) {
    const list = Array.isArray(value)
    if (open) return <span className="faint">{list ? '[' : '{'}</span>
    const text = size === 0 ? (list ? '[]' : '{}') : list ? `[ ${number(size)} ]` : `{ ${number(size)} }`
    return <span className="faint">{text}</span>
  }
  if (typeof value === 'string') {
    return (
      <bdi
        className={css.text}
        title={value.length > SHOWN_TEXT ? `${number(value.length)} characters` : undefined}
      >
        "{shorten(visible(value.slice(0, SHOWN_TEXT + 1)), SHOWN_TEXT)}"
      </bdi>
    )
  }
  if (value instanceof ExactNumber) return <span className={css.number}>{value.source}</span>
  return <span className={typeof value === 'number' ? css.number : css.word}>{String(value)}</span>
}

function shorten(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}…` : text
}
