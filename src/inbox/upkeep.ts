/** Upkeep as part of an inbox: retention, erasure, and the history of what its processes did. */
import { type EraseAllOptions, eraseAll } from '../retention/erase.js'
import { type RetentionPolicy, retentionPolicy } from '../retention/policy.js'
import { type RetainDeps, type RetainOptions, type RetainReport, retain } from '../retention/retain.js'
import { type RetentionSchedule, startSchedule } from '../retention/schedule.js'
import type { EraseResult } from '../store.js'
import type { InboxBase } from './base.js'
import { createHistorian, type Historian } from './history.js'
import { canRetain } from './options.js'

export interface InboxUpkeep {
  readonly historian: Historian
  readonly policy: RetentionPolicy
  start(): Promise<void>
  /** Begins no other run of retention. Resolves when the present one has ended. */
  stopRetention(): Promise<void>
  retain(options?: RetainOptions): Promise<RetainReport>
  erase(options: EraseAllOptions): Promise<Omit<EraseResult, 'more'>>
}

export function inboxUpkeep<Tx>(base: InboxBase<Tx>, worker: string | null): InboxUpkeep {
  const { options, store, registry, sources, log, counters } = base
  const settings = options.retention || {}
  const policy = retentionPolicy(settings, sources)
  const historian = createHistorian({
    counters,
    store,
    worker,
    handled: () => registry.all.map(({ source, pattern }) => ({ source, pattern })),
  })
  // With a spool, the store may open after the start.
  store.onOpen((opened) => historian.changed(opened))
  let schedule: RetentionSchedule | undefined

  async function retainDeps(): Promise<RetainDeps> {
    return { store: await store.open(), policy, settings, log, counters }
  }

  return {
    historian,
    policy,
    async start() {
      await historian.start()
      if (options.retention !== false && canRetain(options.store) && !store.refuses)
        schedule ??= startSchedule(retainDeps, { log, counters })
    },
    stopRetention: async () => schedule?.stop(),
    retain: async (retainOptions) => retain(await retainDeps(), retainOptions),
    erase: async (eraseOptions) => eraseAll(await store.open(), eraseOptions),
  }
}
