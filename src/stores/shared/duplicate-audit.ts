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
  readonly conflicts: number
  /** The content hash and the time of the latest conflict; null when there is none. */
  readonly conflictHash: Uint8Array | null
  readonly conflictAt: number | null
  /** The delivery of the latest conflict, unless it is too large to be kept. */
  readonly conflict: ConflictNote | null
}

/** A delivery with other content, for people to compare. */
export interface ConflictNote {
  readonly source: string
  readonly part: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

export interface DuplicateAudit {
  /** `conflictHash` is null when the bytes were equal. */
  note(seq: number, at: number, conflictHash: Uint8Array | null, conflict?: ConflictNote): void
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
/** A larger delivery, or one that arrives while this many bytes wait to be written, is counted and not kept. */
const CONFLICT_BYTES = 256 * 1024
const CONFLICTS_BYTES = 8 * 1024 * 1024

export function duplicateAudit({ write, delayMs }: DuplicateAuditOptions): DuplicateAudit {
  let notes = new Map<number, DuplicateNote>()
  let timer: NodeJS.Timeout | undefined
  let timerIsPrompt = false
  let writing: Promise<void> | undefined
  let failing = false
  let stopped = false
  let conflictBytes = 0

  function note(seq: number, at: number, conflictHash: Uint8Array | null, conflict?: ConflictNote): void {
    const size = conflict?.body.byteLength ?? 0
    const keeps = conflict !== undefined && size <= CONFLICT_BYTES && conflictBytes + size <= CONFLICTS_BYTES
    if (keeps) conflictBytes += size
    merge(seq, {
      seq,
      count: 1,
      firstAt: at,
      lastAt: at,
      conflicts: conflictHash === null ? 0 : 1,
      conflictHash,
      conflictAt: conflictHash === null ? null : at,
      conflict: keeps ? conflict : null,
    })
    // After a failure only the slow timer tries again: each duplicate would otherwise cause a write that fails.
    schedule(!failing && (conflictHash !== null || notes.size >= WRITE_AT))
  }

  function merge(seq: number, next: DuplicateNote): void {
    const known = notes.get(seq)
    if (known === undefined) {
      if (notes.size < KEEP_AT_MOST) notes.set(seq, next)
      return
    }
    const later = next.conflictAt !== null && next.conflictAt >= (known.conflictAt ?? 0) ? next : known
    notes.set(seq, {
      seq,
      count: known.count + next.count,
      firstAt: Math.min(known.firstAt, next.firstAt),
      lastAt: Math.max(known.lastAt, next.lastAt),
      conflicts: known.conflicts + next.conflicts,
      conflictHash: later.conflictHash,
      conflictAt: later.conflictAt,
      conflict: later.conflict ?? null,
    })
  }

  function schedule(promptly: boolean): void {
    if (stopped || notes.size === 0) return
    if (timer !== undefined) {
      if (!promptly || timerIsPrompt) return
      clearTimeout(timer)
    }
    timerIsPrompt = promptly
    timer = setTimeout(() => void flush().catch(() => {}), promptly ? 0 : delayMs)
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
    conflictBytes = 0
    try {
      await write([...batch.values()])
      failing = false
    } catch (error) {
      failing = true
      for (const [seq, kept] of batch) merge(seq, kept)
      throw error
    } finally {
      schedule(false)
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
