/** For errors about a name that does not exist: which one may be meant. */
import { HookonceError } from './errors.js'

/** A terminal shows them in a few lines. `hookonce dev` has over a hundred sources. */
const SHOWN = 12

/** `known`: the names of the sources. */
export function unknownSource(source: string, known: Iterable<string>): HookonceError {
  return new HookonceError('UNKNOWN_SOURCE', { source, hint: hintOf(source, [...known]) })
}

/** Follows the wrong name, in brackets. */
export function hintOf(name: string, known: readonly string[]): string {
  const near = nearest(name, known)
  if (near !== undefined) return `did you mean "${near}"?`
  const more = known.length > SHOWN ? ` and ${known.length - SHOWN} more` : ''
  return `known: ${known.slice(0, SHOWN).join(', ') || 'none'}${more}`
}

/** Undefined when no known name is close to the misspelt one. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const limit = Math.max(1, Math.floor(name.length / 3))
  let best: string | undefined
  let least = limit + 1
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (distance < least) {
      least = distance
      best = candidate
    }
  }
  return best
}

/** Counts letters that were changed, added or left out, and neighbours that were swapped. */
function editDistance(a: string, b: string): number {
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const change = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swap = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? (before[j - 2] ?? change) + 1 : change
      next.push(Math.min(change, swap, row[j]! + 1, next[j - 1]! + 1))
    }
    before = row
    row = next
  }
  return row[b.length]!
}
