/** The contract of the recording path. `inbox/recording-path.ts` lists its steps, from the sender to the log. */
import type { HookonceError } from './errors.js'
import type { NewDelivery, RecordVerdict } from './model.js'
import type { Source } from './provider.js'
import type { ReceiveSpan } from './tracing.js'

/** A verdict per event after the commit, or `spooled` when the delivery is on disk in the spool. */
export type Recording = RecordVerdict[] | 'spooled'

/** Records one delivery. Resolves only when it is durable. */
export interface Recorder {
  record(delivery: NewDelivery, source: Source, span: ReceiveSpan | null): Promise<Recording>
}

/** Records a batch: a result per delivery, in order. An error is the result of that delivery alone. */
export interface BatchRecorder {
  record(deliveries: readonly NewDelivery[]): Promise<readonly (Recording | HookonceError)[]>
}

/** The last step, the store: a list of verdicts per delivery, in order. */
export interface LogRecorder {
  record(deliveries: readonly NewDelivery[]): Promise<RecordVerdict[][]>
}
