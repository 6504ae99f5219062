/** A JSON value as rows of a tree. Only open parts become rows, so a large value costs what is shown of it. */
import { ExactNumber, type Json } from './bytes'

export interface TreeRow {
  /** Unique in the tree: the keys to it. */
  readonly path: string
  readonly level: number
  readonly name: string | null
  readonly value: Json
  /** Number of children; null for a value without. */
  readonly size: number | null
  readonly open: boolean
  readonly position: number
  readonly siblings: number
}

type Branch = readonly Json[] | { readonly [key: string]: Json }

function isBranch(value: Json): value is Branch {
  return typeof value === 'object' && value !== null && !(value instanceof ExactNumber)
}

const sizes = new WeakMap<object, number>()

function sizeOf(value: Branch): number {
  if (Array.isArray(value)) return value.length
  let size = sizes.get(value)
  if (size === undefined) {
    size = Object.keys(value).length
    sizes.set(value, size)
  }
  return size
}

export function rowsOf(root: Json, isOpen: (path: string) => boolean): TreeRow[] {
  const rows: TreeRow[] = []
  // A list of its own and not recursion: a value may be nested deeper than the stack.
  const waiting: Omit<TreeRow, 'size' | 'open'>[] = [
    { path: '$', level: 1, name: null, value: root, position: 1, siblings: 1 },
  ]
  while (waiting.length > 0) {
    const next = waiting.pop()!
    const { value, path, level } = next
    if (!isBranch(value)) {
      rows.push({ ...next, size: null, open: false })
      continue
    }
    const size = sizeOf(value)
    const open = isOpen(path) && size > 0
    rows.push({ ...next, size, open })
    if (!open) continue
    const children = childrenOf(path, value)
    for (let i = children.length - 1; i >= 0; i--)
      waiting.push({ ...children[i]!, level: level + 1, position: i + 1, siblings: size })
  }
  return rows
}

interface Child {
  readonly path: string
  readonly name: string
  readonly value: Json
}

function childrenOf(path: string, value: Branch): Child[] {
  const isList = Array.isArray(value)
  return Object.entries(value).map(([name, child]) => ({
    path: isList
      ? `${path}[${name}]`
      : /^[A-Za-z_]\w*$/.test(name)
        ? `${path}.${name}`
        : `${path}[${JSON.stringify(name)}]`,
    name,
    value: child,
  }))
}

interface Node {
  readonly path: string
  readonly name: string | null
  readonly value: Json
  readonly parent: Node | null
}

export interface Hits {
  /** In the order of the tree, the first thousand. */
  readonly paths: readonly string[]
  /** The parts that must be open for them to be seen. */
  readonly open: ReadonlySet<string>
}

const MOST_HITS = 1_000

/** Names and values that contain the text, in any case. */
export function findIn(root: Json, text: string): Hits {
  const wanted = text.toLowerCase()
  const paths: string[] = []
  const open = new Set<string>()
  const waiting: Node[] = wanted === '' ? [] : [{ path: '$', name: null, value: root, parent: null }]
  while (waiting.length > 0 && paths.length < MOST_HITS) {
    const node = waiting.pop()!
    const { name, value, path } = node
    const isHit =
      name?.toLowerCase().includes(wanted) || (!isBranch(value) && scalarText(value).includes(wanted))
    if (isHit) {
      paths.push(path)
      for (let up = node.parent; up !== null && !open.has(up.path); up = up.parent) open.add(up.path)
    }
    if (!isBranch(value)) continue
    const isList = Array.isArray(value)
    // The position of an item is not a name that somebody searches for.
    for (const child of childrenOf(path, value).reverse())
      waiting.push({ ...child, name: isList ? null : child.name, parent: node })
  }
  return { paths, open }
}

function scalarText(value: Exclude<Json, Branch>): string {
  return (value instanceof ExactNumber ? value.source : String(value)).toLowerCase()
}

/** The parts that are open at first: the upper levels, as long as they are small. */
export function openAtFirst(root: Json): Set<string> {
  const open = new Set<string>()
  let budget = 120
  let level: Pick<Child, 'path' | 'value'>[] = [{ path: '$', value: root }]
  for (let depth = 0; depth < 4 && level.length > 0; depth++) {
    const below: typeof level = []
    for (const { path, value } of level) {
      if (!isBranch(value)) continue
      const size = sizeOf(value)
      if (size > budget && depth > 0) continue
      budget -= size
      open.add(path)
      if (budget >= 0) below.push(...childrenOf(path, value))
    }
    level = below
  }
  return open
}

export function openAll(root: Json, most = 20_000): Set<string> {
  const open = new Set<string>()
  const waiting: Pick<Child, 'path' | 'value'>[] = [{ path: '$', value: root }]
  while (waiting.length > 0 && open.size < most) {
    const { path, value } = waiting.pop()!
    if (!isBranch(value)) continue
    open.add(path)
    for (const child of childrenOf(path, value)) if (isBranch(child.value)) waiting.push(child)
  }
  return open
}
