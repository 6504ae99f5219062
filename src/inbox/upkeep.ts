/** Upkeep as part of an inbox: retention, erasure, the history of what its processes did, and the watch over its sources. */
import { type EraseAllOptions, eraseAll } from '../retention/erase.js'
import { type RetentionPolicy, retentionPolicy } from '../retention/policy.js'
import { type RetainDeps, type RetainOptions, type RetainReport, retain } from '../retention/retain.js'
import { type RetentionSchedule, startSchedule } from '../retention/schedule.js'
import { type SourceWatch, sourceWatch } from '../silence/watch.js'
import type { EraseResult } from '../store.js'
import type { InboxBase } from './base.js'
import { createHistorian, type Historian } from './history.js'
import { canRetain } from './options.js'
import type { InboxProcessing } from './processing.js'

export interface InboxUpkeep {
  readonly historian: Historian
  readonly watch: SourceWatch
  readonly policy: RetentionPolicy
  start(): Promise<void>
  /** Begins no other run of retention. Resolves when the present one has ended. */
  stopRetention(): Promise<void>
  retain(options?: RetainOptions): Promise<RetainReport>
  erase(options: EraseAllOptions): Promise<Omit<EraseResult, 'more'>>
}

export function inboxUpkeep<Tx>(
  base: InboxBase<Tx>,
  { worker, places }: Pick<InboxProcessing, 'worker' | 'places'>,
): InboxUpkeep {
  const { options, store, registry, sources, log, counters } = base
  const settings = options.retention || {}
  const separators = Object.fromEntries(
    [...sources].flatMap(([name, { typeSeparator }]) => (typeSeparator ? [[name, typeSeparator]] : [])),
  )
  const policy = retentionPolicy(settings, sources)
  const historian = createHistorian({
    counters,
    store,
    worker,
    handled: () => [...registry.all.map(({ source, pattern }) => ({ source, pattern })), ...registry.left],
    state: () => ({
      ...(places() && { places: places()! }),
      circuits: registry.circuits.flatMap((open) => open()),
      separators,
    }),
  })
  // With a spool, the store may open after the start.
  store.onOpen((opened) => historian.changed(opened))
  const watch = sourceWatch({ store, sources, log })
  let schedule: RetentionSchedule | undefined

  async function retainDeps(): Promise<RetainDeps> {
    return { store: await store.open(), policy, settings, log, counters }
  }

  return {
    historian,
    watch,
    policy,
    async start() {
      await historian.start()
      watch.start()
      if (options.retention !== false && canRetain(options.store) && !store.refuses)
        schedule ??= startSchedule(retainDeps, { log, counters })
    },
    stopRetention: async () => schedule?.stop(),
    retain: async (retainOptions) => retain(await retainDeps(), retainOptions),
    erase: async (eraseOptions) => eraseAll(await store.open(), eraseOptions),
  }
}
