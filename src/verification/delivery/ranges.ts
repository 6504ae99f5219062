/** Slices of one document: which bytes belong to something already found. Sorted once, asked in logarithmic time. */
export class Ranges {
  readonly #starts: number[]
  /** The furthest end of the slices up to this one. */
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

  /** Whether any of them has a byte in common with this slice. */
  touch(slice: Uint8Array): boolean {
    const end = slice.byteOffset + slice.byteLength
    // The last that starts before the end of the slice: of those, one that ends after its start touches it.
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
