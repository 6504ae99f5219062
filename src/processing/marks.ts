/** Places in a text that must not be read: marked first, all of them, and masked together. */
export const MASK = '***'

export type Marks = Uint8Array

/** Every occurrence of the value, whatever its case. One or two letters only where they stand alone. */
export function markValue(text: string, lower: string, value: string, marks: Marks): void {
  if (value === '') return
  // A few letters change their length with their case; then the case counts.
  const folded = lower.length === text.length && value.toLowerCase().length === value.length
  const [hay, needle] = folded ? [lower, value.toLowerCase()] : [text, value]
  for (let at = hay.indexOf(needle); at >= 0; at = hay.indexOf(needle, at + 1)) {
    const end = at + needle.length
    if (value.length > 2 || (!isWord(hay[at - 1]) && !isWord(hay[end]))) marks.fill(1, at, end)
  }
}

/**
 * Every run of at least `least` characters that also occurs in one of the values. One pass over each: a rolling hash
 * says where it is worth to compare, so the time is that of reading both.
 */
export function markRuns(text: string, values: Iterable<string>, least: number, marks: Marks): void {
  if (text.length < least) return
  const wanted = new Map<string, number[]>()
  const maybe = new Uint8Array(1 << 16)
  eachWindow(text, least, (at, hash) => {
    maybe[hash & 0xffff] = 1
    const window = text.slice(at, at + least)
    const places = wanted.get(window)
    if (places) places.push(at)
    else wanted.set(window, [at])
  })
  for (const value of values) {
    eachWindow(value, least, (at, hash) => {
      if (maybe[hash & 0xffff] === 0) return
      const window = value.slice(at, at + least)
      const places = wanted.get(window)
      if (!places) return
      for (const place of places) marks.fill(1, place, place + least)
      wanted.delete(window)
    })
  }
}

export function masked(text: string, marks: Marks): string {
  let out = ''
  for (let at = 0; at < text.length; ) {
    let end = at
    while (end < text.length && marks[end] === marks[at]) end++
    out += marks[at] === 1 ? MASK : text.slice(at, end)
    at = end
  }
  return out
}

function isWord(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}]/u.test(character)
}

/** Calls with the hash of each `size` characters in a row. */
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
