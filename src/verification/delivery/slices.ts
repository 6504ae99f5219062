/**
 * A delivery may carry several events. A slice is the bytes of one of them, as received: nothing is serialised again.
 */
import { jsonQuery } from '../json.js'
import { splitAtEach } from '../json-path.js'
import type { DocumentRule, Reading } from './reading.js'

export type ReadSlices = (reading: Reading) => readonly Reading[] | NoSlices

export type NoSlices = 'unreadable' | 'too_many'

/** More than any sender documents. It limits the rows that one delivery can create. */
const maxSlices = 10_000

/** `each` is a path with `[]`, such as `events[]`. A slice knows the objects around it. */
export function compileSlices(each: string): ReadSlices {
  const stages = splitAtEach(each).map((path) => jsonQuery([path]))
  return (reading) => {
    let chains: (readonly Uint8Array[])[] = [[reading.document]]
    for (const stage of stages) {
      const next: (readonly Uint8Array[])[] = []
      for (const chain of chains) {
        const found = reading.scan(stage, chain[0]!)
        if (found === null) return 'unreadable'
        for (const token of found[0] ?? []) {
          if (next.length >= maxSlices) return 'too_many'
          next.push([chain[0]!.subarray(token.start, token.end), ...chain])
        }
      }
      chains = next
    }
    return chains.map((chain, index) => reading.at(chain, index))
  }
}

const elements = compileSlices('[]')

/** One JSON document per line; blank lines are skipped. */
function readLines(reading: Reading): readonly Reading[] | NoSlices {
  const document = reading.document
  // A sender that offers lines also offers an array, and its own setting chooses between them.
  if (document.find((byte) => byte > 0x20) === 0x5b) return elements(reading)
  const slices: Reading[] = []
  for (let from = 0; from < document.length; ) {
    const found = document.indexOf(0x0a, from)
    const end = found < 0 ? document.length : found
    const line = document.subarray(from, end)
    if (line.some((byte) => byte > 0x20)) slices.push(reading.at([line, document], slices.length))
    if (slices.length > maxSlices) return 'too_many'
    from = end + 1
  }
  return slices
}

export function slicesReader(each: string | undefined, rule: DocumentRule): ReadSlices | null {
  if (rule.lines && each === undefined) return readLines
  return each === undefined ? null : compileSlices(each)
}

/** Bytes of events that were found already. Sorted once, searched in logarithmic time. */
export class ByteRanges {
  readonly #starts: number[]
  /** For each start, the greatest end of the ranges up to it. */
  readonly #ends: number[]

  constructor(slices: readonly Uint8Array[]) {
    const sorted = slices
      .map((slice) => [slice.byteOffset, slice.byteOffset + slice.byteLength] as const)
      .sort(([a], [b]) => a - b)
    this.#starts = sorted.map(([start]) => start)
    let furthest = 0
    this.#ends = sorted.map(([, end]) => {
      furthest = Math.max(furthest, end)
      return furthest
    })
  }

  overlap(slice: Uint8Array): boolean {
    const end = slice.byteOffset + slice.byteLength
    // Finds the last range that starts before the slice ends; the greatest end up to it decides.
    let low = 0
    let high = this.#starts.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#starts[middle]! < end) low = middle + 1
      else high = middle
    }
    return low > 0 && this.#ends[low - 1]! > slice.byteOffset
  }
}
