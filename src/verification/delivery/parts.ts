/** A delivery with several events, taken apart: each part is a slice of the received bytes, never re-serialised. */
import { jsonQuery } from '../json.js'
import { splitAtEach } from '../json-path.js'
import type { DocumentRule, Reading } from './reading.js'

export type ReadParts = (reading: Reading) => readonly Reading[] | null

/** More parts than any sender documents; one delivery must not become a flood of rows. */
const maxParts = 10_000

/** `each` is a path with `[]`, such as `events[]`; the parts know what encloses them. Null: the body is unreadable. */
export function compileParts(each: string): ReadParts {
  const stages = splitAtEach(each).map((path) => jsonQuery([path]))
  return (reading) => {
    let chains: (readonly Uint8Array[])[] = [[reading.document]]
    for (const stage of stages) {
      const next: (readonly Uint8Array[])[] = []
      for (const chain of chains) {
        const found = reading.scan(stage, chain[0]!)
        if (found === null) return null
        for (const token of found[0] ?? []) {
          if (next.length >= maxParts) return null
          next.push([chain[0]!.subarray(token.start, token.end), ...chain])
        }
      }
      chains = next
    }
    return chains.map((chain, index) => reading.at(chain, index))
  }
}

const elements = compileParts('[]')

/** One JSON document per line; blank lines do not count. */
export function readLines(reading: Reading): readonly Reading[] | null {
  const document = reading.document
  // Senders that offer lines offer an array too, and the choice is made on their side.
  if (document.find((byte) => byte > 0x20) === 0x5b) return elements(reading)
  const parts: Reading[] = []
  for (let from = 0; from < document.length; ) {
    const found = document.indexOf(0x0a, from)
    const end = found < 0 ? document.length : found
    const line = document.subarray(from, end)
    if (line.some((byte) => byte > 0x20)) parts.push(reading.at([line, document], parts.length))
    if (parts.length > maxParts) return null
    from = end + 1
  }
  return parts
}

export function partsReader(each: string | undefined, rule: DocumentRule): ReadParts | null {
  if (rule.lines && each === undefined) return readLines
  return each === undefined ? null : compileParts(each)
}
