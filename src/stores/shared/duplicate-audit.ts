/**
 * Counts duplicates in memory and writes them a little later, many at once: a duplicate then costs the database a
 * look-up and no write. A crash loses at most the counts of the last second, never an event.
 */

/** The duplicates of one event that are counted and not written yet. */
export interface DuplicateNote {
  readonly seq: number
  readonly count: number
  readonly firstAt: number
  readonly lastAt: number
}

export interface DuplicateAudit {
  note(seq: number, at: number): void
  /** Writes all counts. Rejects when the write fails; the counts are then kept. */
  flush(): Promise<void>
  /** Stops the timer; `flush` still works. */
  stop(): void
}

export interface DuplicateAuditOptions {
  readonly write: (notes: readonly DuplicateNote[]) => Promise<void>
  /** Delay between the first note and the write. */
  readonly delayMs: number
}

/** With this many events noted, they are written at once. */
const WRITE_AT = 1_000
/** While writes fail, duplicates of at most this many events are counted. Those of other events are not. */
const KEEP_AT_MOST = 100_000

export function duplicateAudit({ write, delayMs }: DuplicateAuditOptions): DuplicateAudit {
  let notes = new Map<number, DuplicateNote>()
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> | undefined
  let failing = false
  let stopped = false

  function note(seq: number, at: number): void {
    merge({ seq, count: 1, firstAt: at, lastAt: at })
    // After a failure only the timer tries again: each duplicate would otherwise cause a write that fails.
    if (notes.size >= WRITE_AT && !failing && writing === undefined) void flush().catch(() => {})
    else schedule()
  }

  function merge(next: DuplicateNote): void {
    const { seq } = next
    const known = notes.get(seq)
    if (known !== undefined)
      notes.set(seq, {
        seq,
        count: known.count + next.count,
        firstAt: Math.min(known.firstAt, next.firstAt),
        lastAt: Math.max(known.lastAt, next.lastAt),
      })
    else if (notes.size < KEEP_AT_MOST) notes.set(seq, next)
  }

  function schedule(): void {
    if (stopped || notes.size === 0 || timer !== undefined) return
    timer = setTimeout(() => void flush().catch(() => {}), delayMs)
    timer.unref()
  }

  async function flush(): Promise<void> {
    // One write at a time. Notes that arrive during it are part of the next one.
    while (writing !== undefined) await writing.catch(() => {})
    if (notes.size === 0) return
    clearTimeout(timer)
    timer = undefined
    writing = writeAll().finally(() => {
      writing = undefined
    })
    return writing
  }

  async function writeAll(): Promise<void> {
    const batch = notes
    notes = new Map()
    try {
      await write([...batch.values()])
      failing = false
    } catch (error) {
      failing = true
      for (const kept of batch.values()) merge(kept)
      throw error
    } finally {
      schedule()
    }
  }

  function stop(): void {
    stopped = true
    clearTimeout(timer)
    timer = undefined
  }

  return { note, flush, stop }
}

export interface RepeatShare {
  /** Whether most events of a batch are known: a look-up before the insert then costs less. */
  areLikely(): boolean
  note(known: number, of: number): void
}

/** The share of known events in the last batches. */
export function repeatShare(): RepeatShare {
  let share = 0
  return {
    areLikely: () => share > 0.5,
    note(known, of) {
      share += (known / of - share) / 4
    },
  }
}
