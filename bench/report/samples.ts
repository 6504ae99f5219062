/** Measurements of several rounds, by side. A figure is the median of its rounds. */
import { median } from './table.js'

export type Sample = Readonly<Record<string, number>>

export class Samples {
  readonly #bySide = new Map<string, Sample[]>()

  add(side: string, sample: Sample): void {
    const known = this.#bySide.get(side)
    if (known) known.push(sample)
    else this.#bySide.set(side, [sample])
  }

  get rounds(): number {
    return Math.max(0, ...[...this.#bySide.values()].map((samples) => samples.length))
  }

  has(side: string): boolean {
    return this.#bySide.has(side)
  }

  /** Of the rounds that have this figure; NaN when none has. */
  of(side: string, name: string): number {
    return median(this.values(side, name).filter(Number.isFinite))
  }

  /** Of the ratios in each round, so that a slow round of the machine slows down both sides. */
  ratio(side: string, to: string, name: string): number {
    const above = this.values(side, name)
    const below = this.values(to, name)
    const count = Math.min(above.length, below.length)
    if (count === 0) return Number.NaN
    return median(Array.from({ length: count }, (_, i) => above[i]! / below[i]!))
  }

  /** The slowest and the fastest round: `9,800-11,200`. */
  range(side: string, name: string): string {
    const values = this.values(side, name).filter(Number.isFinite)
    if (values.length === 0) return '-'
    const text = (value: number) => Math.round(value).toLocaleString('en-US')
    return `${text(Math.min(...values))}-${text(Math.max(...values))}`
  }

  values(side: string, name: string): number[] {
    return (this.#bySide.get(side) ?? []).map((sample) => sample[name] ?? Number.NaN)
  }
}
