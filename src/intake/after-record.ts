/** After the commit, an event is handled inside the request (inline mode) or left to the background workers. */
import type { EventKey, EventTypeKey, InlineStatus, RecordVerdict } from '../model.js'
import type { IdentifiedEvent, Source } from '../provider.js'
import type { IntakeDeps } from './intake.js'

export interface AfterRecord {
  wakeWorkers(): void
  /** Whether a worker of this process runs events that are not handled in their request. */
  handledLater(): boolean
  inline(event: EventKey & EventTypeKey, verdict: RecordVerdict): Promise<InlineStatus>
  /** Retries a dead letter, because its sender delivered it again. */
  rearm(key: EventKey): Promise<void>
  /** Events of one lane are handled one at a time, in the order received; null = no order. */
  laneOf(source: string, event: IdentifiedEvent): string | null
}

type AfterRecordDeps = Pick<IntakeDeps, 'after' | 'observer'>

export function handleInRequest(
  { after, observer }: AfterRecordDeps,
  { conflict }: Pick<Source, 'conflict'>,
  source: string,
  events: readonly IdentifiedEvent[],
  verdicts: readonly RecordVerdict[],
): Promise<InlineStatus[]> {
  return Promise.all(
    events.map(async ({ id, type }, i): Promise<InlineStatus> => {
      const verdict = verdicts[i]!
      // This event is not in the log, but its signed content is: `contentGuard: 'reject'`.
      if (verdict.status === 'replayed') return 'already_processed'
      if (verdict.status === 'duplicate' && !verdict.equal && conflict === 'reject') return 'already_received'
      const key = { source, id }
      try {
        return await after.inline({ ...key, type }, verdict)
      } catch (error) {
        observer.notHandled(key, error)
        return 'unknown'
      }
    }),
  )
}

export async function rearmDeadLetters(
  { after, observer }: AfterRecordDeps,
  source: string,
  ids: readonly string[],
  verdicts: readonly RecordVerdict[],
): Promise<void> {
  for (const [i, verdict] of verdicts.entries()) {
    if (verdict.status !== 'duplicate' || verdict.state !== 'failed' || !verdict.final) continue
    const key = { source, id: ids[i]! }
    // The event is in the log whatever happens here, so the sender is not asked to deliver it again.
    await after.rearm(key).catch((error: unknown) => observer.notRearmed(key, error))
  }
}
