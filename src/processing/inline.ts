/**
 * Inline mode: an event is handled inside the request, and the answer tells the result. After a failure the next delivery of
 * the sender runs the event again at once. A request waits a little for another request or worker that has the event. An
 * event that was not handled is acknowledged only when a worker runs it later. When the handler has returned a reply, a
 * later delivery gets the stored one.
 */
import { atMost, countDown } from '../clock.js'
import type { EventKey, InlineEnd, InlineStatus, RecordVerdict, State } from '../model.js'
import type { Store } from '../store.js'
import type { Processor } from './processor.js'
import type { Result } from './result.js'

const WAIT_MS = 5_000
const POLL_MS = 25

type Runner = Pick<Processor<unknown>, 'processEvent' | 'runRecorded' | 'endOf'>

export async function handleInline(
  store: Store,
  processor: Runner,
  key: EventKey,
  verdict: RecordVerdict,
  isHandledHere: boolean,
  /** True when a worker runs: an unfinished event is then tried again without another delivery. */
  handledLater: () => Promise<boolean>,
): Promise<InlineEnd> {
  const isNew = verdict.status === 'recorded' && verdict.state !== 'ignored'
  const first = isNew ? await processor.runRecorded(seqOf(verdict)) : null
  const status = await statusAfter(first, store, processor, key, verdict, isHandledHere, handledLater)
  if (status !== 'processed' && status !== 'already_processed') return { status, reply: null }
  if (status === 'processed' && first) return { status, reply: ('reply' in first && first.reply) || null }
  // A reply is about the content that was handled.
  if (verdict.status === 'duplicate' && !verdict.equal) return { status, reply: null }
  return { status, reply: (await store.replies?.get(key)) ?? null }
}

/** `recorded`: the result of the request that has recorded the event, if it ran it. */
async function statusAfter(
  recorded: Result | null,
  store: Store,
  processor: Runner,
  key: EventKey,
  verdict: RecordVerdict,
  isHandledHere: boolean,
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
  const seq = seqOf(verdict)
  const result = recorded ?? (processor.endOf(seq) ? null : await processor.processEvent(key))
  if (result?.kind === 'succeeded' || result?.kind === 'ignored') return 'processed'
  if (result?.kind === 'failed') return 'failed'
  if (result?.kind === 'postponed') return (await handledLater()) ? 'already_received' : 'not_handled'
  if (result?.kind === 'handed_back') return 'unknown' // not handled, and this process is stopping
  const seen = await waitFor(store, key, () => processor.endOf(seq))
  // A worker without its handler was faster than this request.
  if (seen === 'already_processed' && isHandledHere && (await isUnhandled(store, key))) return 'unknown'
  // The result is unknown. Without a worker only another delivery runs the event again, so the sender must retry.
  return seen === 'already_received' && !(result === null && (await handledLater())) ? 'unknown' : seen
}

function seqOf(verdict: RecordVerdict): number {
  return 'seq' in verdict ? verdict.seq : 0
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

/** `inThisProcess`: the end of the attempt, when another request of this process runs it. Else the log is polled. */
async function waitFor(
  store: Store,
  key: EventKey,
  inThisProcess: () => Promise<unknown> | null,
): Promise<InlineStatus> {
  const left = countDown(WAIT_MS)
  for (;;) {
    await atMost(left(), inThisProcess())
    const state: State | undefined = (await store.get(key))?.state
    if (state === 'succeeded' || state === 'ignored') return 'already_processed'
    if (state === 'failed') return 'failed'
    if (left() <= 1) return 'already_received'
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}
