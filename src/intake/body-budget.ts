/**
 * All bodies in memory have one limit together (`limits.allBodiesBytes`): a limit for each body does not stop a thousand
 * senders at once. Beyond it a delivery is answered 503, and its sender retries.
 */
export interface BodyBudget {
  /** Counts bodies until they are answered. */
  readonly usedBytes: number
  begin(): BodyReading
}

export interface BodyReading {
  /** Counts a chunk that has arrived. False: there is no memory for it. */
  take(bytes: number): boolean
  /** `evict` is called when this body is slow and incomplete, and others need its memory. */
  onEvicted(evict: () => void): void
  /** A complete body is not evicted. */
  complete(): void
  end(): void
}

interface Entry {
  bytes: number
  readonly since: number
  evict: (() => void) | null
}

/** A body that takes longer may be evicted: otherwise a few slow senders could use all the memory. */
const SLOW_MS = 1_000

export function createBodyBudget(mostBytes: number): BodyBudget {
  /** Oldest first. */
  const entries = new Set<Entry>()
  let used = 0

  function end(entry: Entry): void {
    if (!entries.delete(entry)) return
    used -= entry.bytes
    entry.evict = null
  }

  function makeRoom(bytes: number, asking: Entry): void {
    const before = performance.now() - SLOW_MS
    for (const entry of entries) {
      if (used + bytes <= mostBytes || entry.since > before) return
      if (entry === asking || entry.evict === null || entry.bytes === 0) continue
      const { evict } = entry
      end(entry)
      evict()
    }
  }

  return {
    get usedBytes() {
      return used
    },
    begin() {
      const entry: Entry = { bytes: 0, since: performance.now(), evict: null }
      entries.add(entry)
      return {
        take(bytes) {
          if (!entries.has(entry)) return false
          if (used + bytes > mostBytes) makeRoom(bytes, entry)
          // A single body always fits: it has a limit of its own.
          if (used + bytes > mostBytes && used > entry.bytes) return false
          used += bytes
          entry.bytes += bytes
          return true
        },
        onEvicted(evict) {
          entry.evict = evict
        },
        complete() {
          entry.evict = null
        },
        end: () => end(entry),
      }
    },
  }
}

/**
 * Small chunks are copied together. A sender decides how small its chunks are, and each of them costs an object of a
 * hundred bytes or more: a body would take much more memory than its size.
 */
const SMALL_BYTES = 4_096
const BLOCK_BYTES = 16_384

export function collectBytes() {
  const pieces: Uint8Array[] = []
  let block: Uint8Array | null = null
  let filled = 0

  function closeBlock(): void {
    if (block !== null) pieces.push(block.subarray(0, filled))
    block = null
    filled = 0
  }

  return {
    add(piece: Uint8Array): void {
      // Most bodies are one chunk, which is not copied.
      if (piece.byteLength > SMALL_BYTES || (pieces.length === 0 && block === null)) {
        closeBlock()
        pieces.push(piece)
        return
      }
      if (filled + piece.byteLength > BLOCK_BYTES) closeBlock()
      block ??= new Uint8Array(BLOCK_BYTES)
      block.set(piece, filled)
      filled += piece.byteLength
    },
    whole(): Uint8Array {
      closeBlock()
      return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
    },
  }
}
