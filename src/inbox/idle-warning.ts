/**
 * Warns when `inbox.start()` was forgotten, or when a source has no handler: its events are then recorded and acknowledged,
 * and nothing handles them. Warns once, and only when events do wait in the log and no live process takes them.
 */
import { type Counters, countStoreError } from '../counters.js'
import type { Logger } from '../log.js'
import { followedSource } from '../model.js'
import type { Source } from '../provider.js'
import type { LazyStore } from './lazy-store.js'

export interface IdleWarningDeps {
  readonly store: LazyStore
  readonly sources: ReadonlyMap<string, Source>
  readonly log: Logger
  readonly counters: Counters
  readonly handled: () => readonly string[]
}

export interface IdleWarning {
  recorded(): void
  /** This process runs handlers from now on: by `start`, or by calls of `drain` or `process`. */
  runs(): void
}

/** Longer than a program needs to call `start` after its first delivery, and much longer than a worker polls. */
const AFTER_MS = 10_000

export function idleWarning({ store, sources, log, counters, handled }: IdleWarningDeps): IdleWarning {
  let runs = false
  let warned = false
  let timer: NodeJS.Timeout | undefined

  async function look(): Promise<void> {
    timer = undefined
    const { opened } = store
    if (!isIdle() || opened === null || store.refuses) return
    try {
      const [stats, elsewhere = []] = await Promise.all([opened.stats(), opened.history?.handled()])
      const here = runs ? handled() : []
      const waiting = stats.filter(
        ({ source, oldestDueAt }) =>
          sources.has(followedSource(source)) &&
          oldestDueAt !== null &&
          !here.includes(source) &&
          !elsewhere.some((types) => types.source === source),
      )
      const pending = waiting.reduce((sum, { pending, retrying }) => sum + pending + retrying, 0)
      if (pending === 0 || warned) return
      warned = true
      const [{ source }] = waiting as [(typeof waiting)[number]]
      log.warn({ step: 'claim', source, pending }, handled().includes(source) ? notStarted : noHandlers)
    } catch (error) {
      countStoreError(counters, error) // the next delivery looks again
    }
  }

  const isIdle = () => !runs || [...sources.keys()].some((source) => !handled().includes(source))

  return {
    recorded() {
      if (warned || timer !== undefined || !isIdle()) return
      timer = setTimeout(look, AFTER_MS)
      timer.unref()
    },
    runs() {
      runs = true
    },
  }
}

const elsewhere = 'If another process handles the events, create this inbox with processing: false.'
const notStarted = `events wait and this inbox runs no handler: call await inbox.start(). ${elsewhere}`
const noHandlers =
  'events wait and no handler is registered for their source: call inbox.on(source, type, handler) and await inbox.start(), or start the process or worker that handles them.'
