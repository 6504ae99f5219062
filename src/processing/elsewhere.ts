/**
 * Events without a handler in this process. During a deploy that adds a handler, older processes still claim its events.
 * Every process writes to the log what it handles; an event that a live process handles is released for it, and its type
 * is not claimed here for a while. The log is read after the claim, and only when an event has no handler here: an older
 * answer might not know a new process.
 */
import { handlesType } from '../glob.js'
import type { ClaimedEvent, EventTypeKey } from '../model.js'
import type { Source } from '../provider.js'
import type { Store } from '../store.js'

/** The process that handles a type may die: then this one must look again. */
const KNOWN_MS = 5_000
const MAX_KNOWN = 100

export class Elsewhere<Tx> {
  readonly #store: Pick<Store<Tx>, 'history'>
  readonly #sources: ReadonlyMap<string, Pick<Source, 'typeSeparator'>>
  readonly #known = new Map<string, EventTypeKey & { readonly until: number }>()

  constructor(
    store: Pick<Store<Tx>, 'history'>,
    sources: ReadonlyMap<string, Pick<Source, 'typeSeparator'>>,
  ) {
    this.#store = store
    this.#sources = sources
  }

  async sort(events: readonly ClaimedEvent[]): Promise<{
    readonly elsewhere: readonly ClaimedEvent[]
    readonly nowhere: readonly ClaimedEvent[]
  }> {
    const { history } = this.#store
    const handled = history ? await history.handled() : []
    const elsewhere: ClaimedEvent[] = []
    const nowhere: ClaimedEvent[] = []
    for (const event of events) {
      const { source, type } = event
      const separator = this.#sources.get(source)?.typeSeparator
      const isHandled = handled.some(
        (types) => types.source === source && handlesType(types.pattern, type, separator),
      )
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
      this.#known.set(`${source} ${type}`, { source, type: type, until: performance.now() + KNOWN_MS })
  }
}
