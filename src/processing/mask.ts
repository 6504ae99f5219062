/**
 * Masks values of a payload in a text. The characters to hide are collected first, one flag for each character, and are
 * replaced at the end. All of it is bounded, because the sender decides how large a payload is.
 */
export const MASK = '***'

/** One byte for each character of the text: 1 = hide it. */
export type Hidden = Uint8Array

/** Values of this length and more are found by their runs. */
const RUN_LENGTH = 8

/**
 * Hides every occurrence of the values, in upper or lower case, and every run of 8 characters of a longer one. A value of
 * one or two characters must be a whole word. The text is read once for each length, however many values there are.
 */
export function hideValues(text: string, values: Iterable<string>, hidden: Hidden): void {
  const lower = text.toLowerCase()
  // A few letters have another length in lower case; positions would not match, so the case counts then.
  const folds = lower.length === text.length
  const long: string[] = []
  const short = Array.from({ length: RUN_LENGTH }, () => new Set<string>())
  for (const value of values) {
    const folded = folds ? value.toLowerCase() : value
    if (folded.length >= RUN_LENGTH) long.push(folded)
    else short[folded.length]!.add(folded)
  }
  const hay = folds ? lower : text
  hideExcerpts(hay, long, RUN_LENGTH, hidden)
  for (let length = 1; length < RUN_LENGTH; length += 1) {
    const wanted = short[length]!
    if (wanted.size > 0) hideWords(hay, wanted, length, hidden)
  }
}

function hideWords(hay: string, wanted: ReadonlySet<string>, length: number, hidden: Hidden): void {
  for (let at = 0; at + length <= hay.length; at += 1) {
    if (!wanted.has(hay.slice(at, at + length))) continue
    if (length > 2 || (!isWord(hay[at - 1]) && !isWord(hay[at + length]))) hidden.fill(1, at, at + length)
  }
}

/**
 * Hides every run of at least `least` characters that also occurs in one of the values. Text and values are read once: a
 * rolling hash selects the windows that are compared.
 */
export function hideExcerpts(text: string, values: Iterable<string>, least: number, hidden: Hidden): void {
  if (text.length < least) return
  const wanted = new Map<string, number[]>()
  const knownHashes = new Uint8Array(1 << 16)
  eachWindow(text, least, (at, hash) => {
    knownHashes[hash & 0xffff] = 1
    const window = text.slice(at, at + least)
    const places = wanted.get(window)
    if (places) places.push(at)
    else wanted.set(window, [at])
  })
  for (const value of values) {
    eachWindow(value, least, (at, hash) => {
      if (knownHashes[hash & 0xffff] === 0) return
      const window = value.slice(at, at + least)
      const places = wanted.get(window)
      if (!places) return
      for (const place of places) hidden.fill(1, place, place + least)
      wanted.delete(window)
    })
  }
}

/** The text with each hidden run replaced by the mask. */
export function masked(text: string, hidden: Hidden): string {
  let out = ''
  for (let at = 0; at < text.length; ) {
    let end = at
    while (end < text.length && hidden[end] === hidden[at]) end++
    out += hidden[at] === 1 ? MASK : text.slice(at, end)
    at = end
  }
  return out
}

function isWord(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}]/u.test(character)
}

/** Calls `visit` with the start and the hash of every `size` characters in a row. */
function eachWindow(text: string, size: number, visit: (at: number, hash: number) => void): void {
  if (text.length < size) return
  let power = 1
  for (let i = 1; i < size; i++) power = Math.imul(power, 31)
  let hash = 0
  for (let i = 0; i < text.length; i++) {
    if (i >= size) hash = (hash - Math.imul(text.charCodeAt(i - size), power)) | 0
    hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0
    if (i >= size - 1) visit(i - size + 1, hash)
  }
}

const MAX_VALUES = 20_000
const MAX_DEPTH = 64

/** Every string in the payload. */
export function stringsIn(payload: unknown): ReadonlySet<string> {
  const found = new Set<string>()
  collect(payload, found, 0, (value) => typeof value === 'string')
  return found
}

/**
 * The values at a path and below it, as text. `*` is any one step, `**` any number of steps, `[]` any index:
 * `customer.email`, `*.card.number`, `items[].buyer`, `**.iban`. An object is visited once for each step: with `**`
 * many ways lead to it.
 */
export function valuesAt(payload: unknown, steps: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>()
  const visited = steps.map(() => new Set<unknown>())
  const collected = new Set<unknown>()
  function walk(value: unknown, at: number): void {
    if (found.size >= MAX_VALUES) return
    if (at === steps.length) {
      collect(value, found, 0, isScalar, collected)
      return
    }
    if (typeof value !== 'object' || value === null || visited[at]!.has(value)) return
    visited[at]!.add(value)
    const step = steps[at]!
    if (step === '**') walk(value, at + 1)
    for (const [key, member] of Object.entries(value)) {
      if (step === '**') walk(member, at)
      else if (step === '*' || step === key) walk(member, at + 1)
    }
  }
  walk(payload, 0)
  return found
}

export function parsePath(path: string): readonly string[] {
  return path
    .replaceAll('[]', '.*')
    .split('.')
    .filter((step) => step !== '')
}

function collect(
  value: unknown,
  found: Set<string>,
  depth: number,
  wanted: (value: unknown) => boolean,
  collected = new Set<unknown>(),
): void {
  if (found.size >= MAX_VALUES || depth > MAX_DEPTH) return
  if (wanted(value)) found.add(String(value))
  else if (typeof value === 'object' && value !== null && !collected.has(value)) {
    collected.add(value)
    for (const member of Object.values(value)) collect(member, found, depth + 1, wanted, collected)
  }
}

function isScalar(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint'
}
