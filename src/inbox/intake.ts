/** Intake as part of an inbox: its entrances, and the recording path behind them. */
import type { AfterRecord } from '../intake/after-record.js'
import type { Receipt } from '../intake/answer.js'
import { type BodyBudget, createBodyBudget } from '../intake/body-budget.js'
import { fetchIntake } from '../intake/fetch.js'
import type { EarlyRefusal } from '../intake/receive.js'
import type { Delivery } from '../provider.js'
import type { OpenSpool } from '../spool/spool.js'
import type { InboxBase } from './base.js'
import { receiver } from './receiver.js'
import { recordingPath } from './recording-path.js'

export interface InboxIntake {
  receive(source: string, delivery: Delivery): Promise<Receipt>
  fetch(request: Request): Promise<Response>
  refused(source: string | null, refusal: EarlyRefusal): Receipt
  readonly bodies: BodyBudget
  readonly spool: OpenSpool | null
  /** Resolves when no delivery waits for its commit. */
  drained(): Promise<void>
}

export function inboxIntake<Tx>(base: InboxBase<Tx>, after: AfterRecord): InboxIntake {
  const { limits, observer, store } = base
  const bodies = createBodyBudget(limits.allBodiesBytes)
  const recorder = recordingPath({ ...base, recordMs: limits.recordMs, recorded: after.recorded })
  const { spool, drained } = recorder
  const receive = receiver({ ...base, recorder, after }, { store, spool })
  const refused = (source: string | null, refusal: EarlyRefusal) => observer.refusedEarly(source, refusal)
  return {
    receive,
    fetch: (request) => fetchIntake({ receive, refused, limits, bodies }, request),
    refused,
    bodies,
    spool,
    drained,
  }
}
