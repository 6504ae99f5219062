/**
 * Masks values of a payload in a text. The characters to hide are collected first, one flag for each character, and are
 * replaced at the end. All of it is bounded, because the sender decides how large a payload is.
 */
export const MASK = '***'

/** One byte for each character of the text: 1 = hide it. */
export type Hidden = Uint8Array

/** Hides every occurrence of the value, in upper or lower case. A value of one or two characters must be a whole word. */
export function hideValue(text: string, lower: string, value: string, hidden: Hidden): void {
  if (value === '') return
  // A few letters have another length in lower case; positions would not match, so the case counts then.
  const folded = lower.length === text.length && value.toLowerCase().length === value.length
  const [hay, needle] = folded ? [lower, value.toLowerCase()] : [text, value]
  for (let at = hay.indexOf(needle); at >= 0; at = hay.indexOf(needle, at + 1)) {
    const end = at + needle.length
    if (value.length > 2 || (!isWord(hay[at - 1]) && !isWord(hay[end]))) hidden.fill(1, at, end)
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
export function stringsIn(payload: unknown): string[] {
  const found: string[] = []
  collect(payload, found, 0, (value) => typeof value === 'string')
  return found
}

/**
 * The values at a path and below it, as text. `*` is any one step, `**` any number of steps, `[]` any index:
 * `customer.email`, `*.card.number`, `items[].buyer`, `**.iban`.
 */
export function valuesAt(payload: unknown, steps: readonly string[]): string[] {
  const found: string[] = []
  let visits = 0
  function walk(value: unknown, at: number): void {
    if (visits++ > 4 * MAX_VALUES || found.length > MAX_VALUES) return
    if (at === steps.length) {
      collect(value, found, 0, isScalar)
      return
    }
    if (typeof value !== 'object' || value === null) return
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

function collect(value: unknown, found: string[], depth: number, wanted: (value: unknown) => boolean): void {
  if (found.length >= MAX_VALUES || depth > MAX_DEPTH) return
  if (wanted(value)) found.push(String(value))
  else if (typeof value === 'object' && value !== null)
    for (const member of Object.values(value)) collect(member, found, depth + 1, wanted)
}

function isScalar(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint'
}
