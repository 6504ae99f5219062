/**
 * The event types that claims leave out because they are paused. A claim cannot leave out a glob, so the first events of each
 * paused type are claimed, released, and their type is remembered.
 */
import type { ClaimedEvent, EventTypeKey } from '../model.js'
import type { Paused } from './paused.js'

/** Senders decide which types there are, so only so many are left out. Events of other paused types are claimed so often. */
const MAX_TYPES = 100
const DELAY_MS = 1_000

export class PausedTypes {
  readonly #paused: Paused
  readonly #types = new Map<string, EventTypeKey>()

  constructor(paused: Paused) {
    this.#paused = paused
  }

  known(): EventTypeKey[] {
    for (const [key, type] of this.#types) if (!this.#paused.of(type)) this.#types.delete(key)
    return [...this.#types.values()]
  }

  /** How to release these paused events: at once where later claims leave out their type. */
  note(events: readonly ClaimedEvent[]): { readonly events: ClaimedEvent[]; readonly delayMs: number }[] {
    const isLeftOut = ({ source, type }: ClaimedEvent) => {
      const key = `${source} ${type}`
      if (this.#types.size < MAX_TYPES) this.#types.set(key, { source, type })
      return this.#types.has(key)
    }
    const leftOut = new Set(events.filter(isLeftOut))
    return [
      { events: [...leftOut], delayMs: 0 },
      { events: events.filter((event) => !leftOut.has(event)), delayMs: DELAY_MS },
    ]
  }
}
