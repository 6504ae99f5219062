/**
 * Inline mode: what was recorded is handled inside the request, and the answer says how it went. A sender's next
 * delivery runs a failed event again at once. Somebody else who has the event is waited for, a little.
 */
import type { EventKey, RecordVerdict, State } from '../model.js'
import type { Store } from '../store.js'
import type { Processor } from './processor.js'

/** The words of the answer (`intake/answer.ts`). */
export type InlineStatus = 'processed' | 'already_processed' | 'already_received' | 'failed' | 'unknown'

const WAIT_MS = 5_000
const LOOK_EVERY_MS = 25

export async function handleInline(
  store: Store,
  processor: Processor,
  key: EventKey,
  verdict: RecordVerdict,
  /** This process also handles in the background: what is left unfinished is taken up again without its sender. */
  handlesLater: boolean,
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
  if (result?.kind === 'handed_back') return 'unknown' // nothing was done, and this process is stopping
  const seen = await waitFor(store, key)
  // Nobody knows how it ends. Where no worker would run it again, only its sender can: it must come back.
  return seen === 'already_received' && !(handlesLater && result === null) ? 'unknown' : seen
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
