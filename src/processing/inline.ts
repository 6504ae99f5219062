/**
 * Inline mode: what was recorded is handled inside the request, and the answer says how it went. A sender's next
 * delivery runs a failed event again at once. Somebody else who has the event is waited for, a little.
 */
import type { EventKey, RecordVerdict, State } from '../model.js'
import type { Store } from '../store.js'
import type { Processor } from './processor.js'

/** The words of the answer (`intake/answer.ts`). */
export type InlineStatus = 'processed' | 'already_processed' | 'already_received' | 'failed'

const WAIT_MS = 5_000
const LOOK_EVERY_MS = 25

export async function handleInline(
  store: Store,
  processor: Processor,
  key: EventKey,
  verdict: RecordVerdict,
): Promise<InlineStatus> {
  if (verdict.status === 'duplicate' && (verdict.state === 'succeeded' || verdict.state === 'ignored'))
    return 'already_processed'
  if (verdict.status === 'recorded' && verdict.state === 'ignored') return 'already_received'
  if (verdict.status === 'duplicate' && verdict.final) {
    // A dead letter: the sender has not given up, so neither do we. Two that come at once may both order; one runs it.
    await store.operate({ verb: 'retry', events: [key], actor: 'sender', reason: 'delivered again' })
  }
  const result = await processor.one(key)
  if (result?.kind === 'succeeded' || result?.kind === 'ignored') return 'processed'
  if (result?.kind === 'failed') return 'failed'
  if (result?.kind === 'postponed') return 'already_received' // recorded, and a worker will come back to it
  return waitFor(store, key)
}

async function waitFor(store: Store, key: EventKey): Promise<InlineStatus> {
  const until = performance.now() + WAIT_MS
  for (;;) {
    const state: State | undefined = (await store.get(key))?.state
    if (state === 'succeeded' || state === 'ignored') return 'already_processed'
    if (state === 'failed') return 'failed'
    if (performance.now() > until) return 'already_received'
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}
