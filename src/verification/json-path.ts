/**
 * JSON paths compiled to one tree. If a name and `*` (or an index and `[]`) are at one place, the node of the name has
 * the paths of both: a reader follows exactly one node for each value.
 */
export interface PathNode {
  /** The paths that end here. */
  readonly slots: readonly number[]
  readonly keys: readonly WantedKey[]
  readonly indexes: ReadonlyMap<number, PathNode>
  readonly each: PathNode | null
  readonly members: PathNode | null
}

export interface WantedKey {
  readonly name: string
  readonly bytes: Uint8Array
  readonly node: PathNode
  /** The reader notes here in which object it last saw this key. */
  seenIn: number
}

type Step = { readonly key: string } | '[]' | '*'

export function compilePaths(paths: readonly string[]): PathNode {
  return build(paths.map((path, slot) => ({ steps: parsePath(path), slot })))
}

/** `entry[].changes[].value` -> `entry[]`, `changes[]`, `value`. */
export function splitAtEach(path: string): readonly string[] {
  return path.split(/(?<=\[\])\.?/).filter((path) => path !== '')
}

function build(branches: readonly { steps: readonly Step[]; slot: number }[]): PathNode {
  const here = branches.filter((branch) => branch.steps.length === 0).map((branch) => branch.slot)
  const below = branches.filter((branch) => branch.steps.length > 0)
  const under = (matches: (step: Step) => boolean) => {
    const matching = below.filter((branch) => matches(branch.steps[0]!))
    return matching.map((branch) => ({ steps: branch.steps.slice(1), slot: branch.slot }))
  }
  const names = new Set(below.flatMap(({ steps: [step] }) => (typeof step === 'object' ? [step.key] : [])))
  const keys: WantedKey[] = []
  const indexes = new Map<number, PathNode>()
  for (const name of names) {
    const named = (wild: Step) =>
      under((step) => step === wild || (typeof step === 'object' && step.key === name))
    keys.push({ name, bytes: new TextEncoder().encode(name), node: build(named('*')), seenIn: 0 })
    if (/^(0|[1-9]\d{0,8})$/.test(name)) indexes.set(Number(name), build(named('[]')))
  }
  const wild = (kind: '[]' | '*') => {
    const branchesBelow = under((step) => step === kind)
    return branchesBelow.length > 0 ? build(branchesBelow) : null
  }
  return { slots: here, keys, indexes, each: wild('[]'), members: wild('*') }
}

function parsePath(path: string): readonly Step[] {
  if (path === '') return []
  const steps: Step[] = []
  for (const text of path.split(/(?<!\\)\./)) {
    const depth = /(?:\[\])*$/.exec(text)![0].length / 2
    const name = text.slice(0, text.length - depth * 2).replaceAll('\\.', '.')
    if (name === '' && depth === 0) throw new TypeError(`The JSON path "${path}" has an empty step.`)
    if (name === '*') steps.push('*')
    else if (name !== '') steps.push({ key: name })
    for (let i = 0; i < depth; i += 1) steps.push('[]')
  }
  return steps
}
