/**
 * Counts duplicates in memory and writes them a little later, many at once: a duplicate then costs the database a
 * look-up and no write. A crash loses at most the counts of the last second, never an event.
 */

export interface DuplicateNote {
  readonly seq: number
  readonly count: number
  readonly firstAt: number
  readonly lastAt: number
}

const DELAY_MS = 1_000
const WRITE_AT = 1_000
/** While writes fail, duplicates of more events than this are not counted. */
const KEEP_AT_MOST = 100_000

type Write = (notes: readonly DuplicateNote[]) => Promise<void>

export class DuplicateAudit {
  readonly #writeNotes: Write
  #notes = new Map<number, DuplicateNote>()
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> | undefined
  #isFailing = false
  #isStopped = false

  constructor(write: Write) {
    this.#writeNotes = write
  }

  note(seq: number, at: number): void {
    this.#merge({ seq, count: 1, firstAt: at, lastAt: at })
    // After a failure only the timer tries again: each duplicate would otherwise cause a write that fails.
    if (this.#notes.size >= WRITE_AT && !this.#isFailing && this.#writing === undefined)
      void this.flush().catch(() => {})
    else this.#schedule()
  }

  /** Writes all counts. Rejects when the write fails; the counts are then kept. */
  async flush(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing.catch(() => {})
    if (this.#notes.size === 0) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#writing = this.#write().finally(() => {
      this.#writing = undefined
    })
    return this.#writing
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #merge(next: DuplicateNote): void {
    const { seq } = next
    const known = this.#notes.get(seq)
    if (known !== undefined)
      this.#notes.set(seq, {
        seq,
        count: known.count + next.count,
        firstAt: Math.min(known.firstAt, next.firstAt),
        lastAt: Math.max(known.lastAt, next.lastAt),
      })
    else if (this.#notes.size < KEEP_AT_MOST) this.#notes.set(seq, next)
  }

  #schedule(): void {
    if (this.#isStopped || this.#notes.size === 0 || this.#timer !== undefined) return
    this.#timer = setTimeout(() => void this.flush().catch(() => {}), DELAY_MS).unref()
  }

  async #write(): Promise<void> {
    const batch = this.#notes
    this.#notes = new Map()
    try {
      await this.#writeNotes([...batch.values()])
      this.#isFailing = false
    } catch (error) {
      this.#isFailing = true
      for (const kept of batch.values()) this.#merge(kept)
      throw error
    } finally {
      this.#schedule()
    }
  }
}

export function repeatShare() {
  let share = 0
  return {
    /** True while most events are known: a look-up before the insert then costs less. */
    areLikely: () => share > 0.5,
    note(known: number, of: number): void {
      share += (known / of - share) / 4
    },
  }
}
