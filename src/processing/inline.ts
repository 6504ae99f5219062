/**
 * Inline mode: an event is handled inside the request, and the answer tells the result. After a failure the next delivery of
 * the sender runs the event again at once. A request waits a little for another request or worker that has the event. An
 * event that was not handled is acknowledged only when a worker runs it later.
 */
import type { EventKey, InlineStatus, RecordVerdict, State } from '../model.js'
import type { Store } from '../store.js'
import type { Processor } from './processor.js'

const WAIT_MS = 5_000
const POLL_MS = 25

export async function handleInline(
  store: Store,
  processor: Pick<Processor<unknown>, 'processEvent'>,
  key: EventKey,
  verdict: RecordVerdict,
  isHandledHere: boolean,
  /** True when a worker runs: an unfinished event is then tried again without another delivery. */
  handledLater: () => Promise<boolean>,
): Promise<InlineStatus> {
  if (verdict.status === 'duplicate' && verdict.state === 'succeeded') return 'already_processed'
  if (verdict.status === 'recorded' && verdict.state === 'ignored') return 'already_received'
  if (
    verdict.status === 'duplicate' &&
    verdict.state === 'ignored' &&
    !(isHandledHere && (await mayRunAgain(store, key)))
  )
    return 'already_processed'
  if (verdict.status === 'duplicate' && verdict.final) {
    // A dead letter that is delivered again is tried again, and so is an event that a worker without its handler has put on
    // the review list. Of two simultaneous deliveries only one runs it.
    await store.operate({ verb: 'retry', events: [key], actor: 'sender', note: 'delivered again' })
  }
  const result = await processor.processEvent(key)
  if (result?.kind === 'succeeded' || result?.kind === 'ignored') return 'processed'
  if (result?.kind === 'failed') return 'failed'
  if (result?.kind === 'postponed') return (await handledLater()) ? 'already_received' : 'not_handled'
  if (result?.kind === 'handed_back') return 'unknown' // not handled, and this process is stopping
  const seen = await waitFor(store, key)
  // A worker without its handler was faster than this request.
  if (seen === 'already_processed' && isHandledHere && (await isUnhandled(store, key))) return 'unknown'
  // The result is unknown. Without a worker only another delivery runs the event again, so the sender must retry.
  return seen === 'already_received' && !(result === null && (await handledLater())) ? 'unknown' : seen
}

/** The verdict of a cache may be a minute old, and another process may have run the event since. */
async function mayRunAgain(store: Store, key: EventKey): Promise<boolean> {
  const event = await store.get(key)
  if (event === null || event.state === 'succeeded') return false
  return event.state !== 'ignored' || event.reason === 'unhandled'
}

/** A worker with other handlers does not know a process that handles events in requests and runs no worker. */
async function isUnhandled(store: Store, key: EventKey): Promise<boolean> {
  return (await store.get(key))?.reason === 'unhandled'
}

async function waitFor(store: Store, key: EventKey): Promise<InlineStatus> {
  const until = performance.now() + WAIT_MS
  for (;;) {
    const state: State | undefined = (await store.get(key))?.state
    if (state === 'succeeded' || state === 'ignored') return 'already_processed'
    if (state === 'failed') return 'failed'
    if (performance.now() > until) return 'already_received'
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}
