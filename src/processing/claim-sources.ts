/**
 * The sources to claim from. A source that is not paused is
 *
 *   free     each of its handlers may take more events;
 *   behind   one of its handlers has enough events, and those of the others may be behind a backlog of it. The claim looks
 *            behind the backlog now and then;
 *   full     all its handlers have enough events. Nothing is claimed from it.
 */
import type { Source } from '../provider.js'
import type { EventBuffer } from './buffer.js'
import type { Registry } from './registry.js'

/** Events of the backlog that a look finds are released, so it is not made with every claim. */
export const LOOK_MS = 250
const LOOK_EVENTS = 500
const MAX_CLAIM = 1_000

export interface Claimable {
  readonly free: readonly string[]
  readonly behind: readonly string[]
}

export class ClaimSources<Tx> {
  readonly #registry: Registry<Tx>
  readonly #sources: ReadonlyMap<string, Source>
  readonly #buffer: EventBuffer<Tx>
  #lookedAt = 0

  constructor(registry: Registry<Tx>, sources: ReadonlyMap<string, Source>, buffer: EventBuffer<Tx>) {
    this.#registry = registry
    this.#sources = sources
    this.#buffer = buffer
  }

  unpaused(): readonly string[] {
    return this.#registry.sources().filter((source) => !this.#registry.paused.ofSource(source))
  }

  claimable(): Claimable {
    const registry = this.#registry
    const full = new Set(registry.all.filter((handler) => this.#buffer.isAside(handler)))
    const names = this.unpaused()
    if (full.size === 0) return { free: names, behind: [] }
    const isFree = (name: string) => !registry.ofSource(name).some((handler) => full.has(handler))
    const takesMore = (name: string) =>
      registry
        .ofSource(name)
        .some((handler) => !full.has(handler) && !registry.paused.ofHandler(name, handler.pattern))
    return {
      free: names.filter(isFree),
      behind: names.filter((name) => !isFree(name) && takesMore(name)),
    }
  }

  nextClaim({ free, behind }: Claimable, room: number): { sources: readonly string[]; limit: number } {
    const now = performance.now()
    if (behind.length === 0 || now - this.#lookedAt < LOOK_MS)
      return { sources: free, limit: Math.min(room, MAX_CLAIM) }
    this.#lookedAt = now
    return { sources: [...free, ...behind], limit: Math.min(Math.max(room, LOOK_EVENTS), MAX_CLAIM) }
  }

  /** The end of an event makes the next one of its lane due, which must not wait. */
  get areOrdered(): boolean {
    return (
      this.#registry.all.some(({ options }) => options.order !== undefined) ||
      [...this.#sources.values()].some(({ order }) => order !== null)
    )
  }
}
