/** Intake as part of an inbox: its entrances, and the recording path behind them. */

import { timeLimited } from '../clock.js'
import { HookonceError } from '../errors.js'
import type { AfterRecord } from '../intake/after-record.js'
import { type Receipt, rejected } from '../intake/answer.js'
import { type BodyBudget, createBodyBudget } from '../intake/body-budget.js'
import { fetchIntake } from '../intake/fetch.js'
import { type IntakeDeps, intake } from '../intake/intake.js'
import type { EarlyRefusal } from '../intake/receive.js'
import type { Delivery } from '../provider.js'
import type { OpenSpool } from '../spool/spool.js'
import type { InboxBase } from './base.js'
import type { LazyStore } from './lazy-store.js'
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

export function inboxIntake<Tx>(base: InboxBase<Tx>, after: AfterRecord): InboxIntake {
  const { limits, observer, store } = base
  const bodies = createBodyBudget(limits.allBodiesBytes)
  const recorder = recordingPath({ ...base, recordMs: limits.recordMs, recorded: after.recorded })
  const { spool, idle } = recorder
  const receive = receiver({ ...base, recorder, after }, store, spool)
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

/** `inbox.receive`: makes sure that there is a store or a spool to record in, then hands the delivery to intake. */
function receiver(
  deps: IntakeDeps,
  store: LazyStore,
  spool: OpenSpool | null,
): (source: string, delivery: Delivery) => Promise<Receipt> {
  const { observer, limits } = deps
  const notOpen = () =>
    new HookonceError('STORE_UNAVAILABLE', { problem: `not open within ${limits.recordMs} ms` })

  return async (source, delivery) => {
    if (spool) spool.start()
    else if (!store.opened) {
      try {
        await timeLimited(store.open(), limits.recordMs, notOpen)
      } catch (error) {
        observer.storeNotOpen(source, error)
        return rejected(503, 'STORE_UNAVAILABLE', 'unavailable')
      }
    }
    if (store.refuses) {
      observer.stopped(source)
      return rejected(503, 'STORE_CLOSED', 'unavailable')
    }
    return intake(deps, source, delivery)
  }
}
