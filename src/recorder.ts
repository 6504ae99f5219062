/** `inbox/recording-path.ts` lists the steps of recording, from the sender to the log. */
import type { HookonceError } from './errors.js'
import type { NewDelivery, RecordClaim, RecordVerdict } from './model.js'
import type { Source } from './provider.js'
import type { ReceiveSpan } from './tracing.js'

/** A verdict per event after the commit, or `spooled` when the delivery is on disk in the spool. */
export type Recording = RecordVerdict[] | 'spooled'

/** Resolves when the events are durable, except those with the verdict `refused` or `replayed`. */
export interface Recorder {
  record(delivery: NewDelivery, source: Source, span: ReceiveSpan | null): Promise<Recording>
}

/** A result per delivery, in the order of the input. An error is the result of that delivery alone. */
export interface BatchRecorder {
  record(deliveries: readonly NewDelivery[]): Promise<readonly (Recording | HookonceError)[]>
}

/** The last step, the store: the verdicts per delivery, in the order of the input. */
export interface LogRecorder {
  record(deliveries: readonly NewDelivery[], claim?: RecordClaim): Promise<RecordVerdict[][]>
}
