/** Intake as part of an inbox: its entrances, and the recording path behind them. */

import { timeLimited } from '../clock.js'
import { HookonceError } from '../errors.js'
import { failureAnswer, type Receipt } from '../intake/answer.js'
import { type BodyBudget, createBodyBudget } from '../intake/body-budget.js'
import { fetchIntake } from '../intake/fetch.js'
import { intake } from '../intake/intake.js'
import type { EarlyRefusal } from '../intake/receive.js'
import type { Delivery } from '../provider.js'
import type { Recorder } from '../recorder.js'
import type { OpenSpool } from '../spool/spool.js'
import type { InboxBase } from './base.js'
import type { InboxProcessing } from './processing.js'
import { recordingPath } from './recording-path.js'

export interface InboxIntake {
  receive(source: string, delivery: Delivery): Promise<Receipt>
  fetch(request: Request): Promise<Response>
  refused(source: string | null, refusal: EarlyRefusal): Receipt
  bodyConsumed(source: string, path: string): Receipt
  readonly bodies: BodyBudget
  readonly spool: OpenSpool | null
  idle(): Promise<void>
}

export function inboxIntake<Tx>(
  base: InboxBase<Tx>,
  { afterRecord: after, claiming }: Pick<InboxProcessing, 'afterRecord' | 'claiming'>,
): InboxIntake {
  const { limits, observer, store } = base
  const bodies = createBodyBudget(limits.allBodiesBytes)
  const recorder = recordingPath({
    ...base,
    recordMs: limits.recordMs,
    claiming,
    wakeWorkers: () => after.recorded(true),
  })
  const { spool, idle } = recorder
  const deps = { ...base, recorder: spool ? recorder : opening(recorder, base), after }

  async function receive(source: string, delivery: Delivery): Promise<Receipt> {
    spool?.start()
    if (!store.refuses) return intake(deps, source, delivery)
    observer.stopped(source)
    return failureAnswer(503, 'STORE_CLOSED', 'unavailable')
  }

  const { refusedEarly: refused, bodyConsumed } = observer
  return {
    receive,
    fetch: (request) => fetchIntake({ receive, refused, bodyConsumed, limits, bodies }, request),
    refused,
    bodyConsumed,
    bodies,
    spool,
    idle,
  }
}

/** Handshakes and refusals need no store, so only a delivery that is to be recorded opens it. */
function opening(
  recorder: Recorder,
  { store, limits, observer }: Pick<InboxBase<unknown>, 'store' | 'limits' | 'observer'>,
): Recorder {
  const { recordMs } = limits
  const notOpen = () => new HookonceError('STORE_UNAVAILABLE', { problem: `not open within ${recordMs} ms` })

  async function open(source: string): Promise<void> {
    try {
      await timeLimited(store.open(), recordMs, notOpen)
    } catch (error) {
      observer.storeNotOpen(source, error)
      throw error
    }
    if (store.refuses) throw new HookonceError('STORE_CLOSED')
  }

  return {
    record(delivery, source, span) {
      if (store.opened) return recorder.record(delivery, source, span)
      return open(delivery.source).then(() => recorder.record(delivery, source, span))
    },
  }
}
