/**
 * Events without a handler in this process. During a deploy that adds a handler, older processes still claim its events.
 * Every process writes to the log what it handles; an event that a live process handles is released for it, and its type
 * is not claimed here for a while. The log is read after the claim, and only when an event has no handler here: an older
 * answer might not know a new process.
 */
import { handlesType } from '../glob.js'
import { type ClaimedEvent, type EventTypeKey, followedSource } from '../model.js'
import type { Source } from '../provider.js'
import type { Store } from '../store.js'
import type { Registry } from './registry.js'

/** The process that handles a type may die: then this one must look again. */
const KNOWN_MS = 5_000
const MAX_KNOWN = 100

type SourceTypes = ReadonlyMap<string, Pick<Source, 'typeSeparator'>>

/** Reads what live processes handle. Returns whether one of them handles an event. */
export async function handledNow(
  { history }: Pick<Store, 'history'>,
  sources: SourceTypes,
): Promise<(event: EventTypeKey) => boolean> {
  const handled = history ? await history.handled() : []
  return ({ source, type }) => {
    const separator = sources.get(followedSource(source))?.typeSeparator
    return handled.some((types) => types.source === source && handlesType(types.pattern, type, separator))
  }
}

export class Elsewhere<Tx> {
  readonly #store: Pick<Store<Tx>, 'history'>
  readonly #sources: SourceTypes
  readonly #registry: Registry<Tx>
  readonly #known = new Map<string, EventTypeKey & { readonly until: number }>()

  constructor(store: Pick<Store<Tx>, 'history'>, sources: SourceTypes, registry: Registry<Tx>) {
    this.#store = store
    this.#sources = sources
    this.#registry = registry
  }

  async sort(events: readonly ClaimedEvent[]): Promise<{
    readonly elsewhere: readonly ClaimedEvent[]
    readonly nowhere: readonly ClaimedEvent[]
  }> {
    const isLive = await handledNow(this.#store, this.#sources)
    const elsewhere: ClaimedEvent[] = []
    const nowhere: ClaimedEvent[] = []
    for (const event of events) {
      const isHandled = this.#registry.isLeft(event) || isLive(event)
      if (isHandled) this.#note(event)
      ;(isHandled ? elsewhere : nowhere).push(event)
    }
    return { elsewhere, nowhere }
  }

  types(): readonly EventTypeKey[] {
    for (const [key, { until }] of this.#known) if (until < performance.now()) this.#known.delete(key)
    return [...this.#known.values()]
  }

  #note({ source, type }: ClaimedEvent): void {
    if (this.#known.size < MAX_KNOWN)
      this.#known.set(`${source} ${type}`, { source, type, until: performance.now() + KNOWN_MS })
  }
}
