/** Erases the payloads of a reference in batches, and waits for those still needed. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Duration } from '../duration.js'
import { checkedMs } from '../options.js'
import { type ArchivedIn, type EraseOptions, type EraseResult, need, type Store } from '../store.js'

export interface EraseAllOptions extends Omit<EraseOptions, 'limit'> {
  /** How long to wait for events that still need a payload. Default `'30s'`. */
  readonly wait?: Duration
  readonly signal?: AbortSignal
  readonly onProgress?: (erased: Omit<EraseResult, 'more'>) => void
}

const BATCH = 200
const POLL_MS = 250

/** `busy`: deliveries that were still needed after `wait`; call it again for them. */
export async function eraseAll(store: Store, options: EraseAllOptions): Promise<Omit<EraseResult, 'more'>> {
  const { wait, signal, onProgress, ...about } = options
  const archive = need(store, 'archive', 'erasing payloads')
  const until = performance.now() + checkedMs('erase({ wait })', wait, '30s')
  let payloads = 0
  let events = 0
  const archived = new Map<string, ArchivedIn>()
  for (;;) {
    signal?.throwIfAborted()
    const limit = options.dryRun ? 100_000 : BATCH
    const erased = await archive.erase({ ...about, limit })
    payloads += erased.payloads
    events += erased.events
    for (const object of erased.archived) archived.set(JSON.stringify(object), object)
    const result = { payloads, events, busy: erased.busy, archived: [...archived.values()] }
    onProgress?.(result)
    if (options.dryRun || (!erased.more && erased.busy === 0)) return result
    if (!erased.more && !(await becameFree())) return result
  }

  /** Polls with a dry run, which writes nothing to the audit. */
  async function becameFree(): Promise<boolean> {
    while (performance.now() < until) {
      await sleep(POLL_MS)
      signal?.throwIfAborted()
      if ((await archive.erase({ ...about, limit: BATCH, dryRun: true })).events > 0) return true
    }
    return false
  }
}
