/** After the commit, an event is handled inside the request (inline mode) or left to the background workers. */
import type { EventKey, EventTypeKey, InlineEnd, RecordVerdict } from '../model.js'
import type { IdentifiedEvent, Source } from '../provider.js'
import type { IntakeDeps } from './intake.js'

export interface AfterRecord {
  /** New events are in the log. `isLeft`: some of them are for the claims of workers. */
  recorded(isLeft: boolean): void
  /** Whether a worker of this process runs events that are not handled in their request. */
  handledLater(): boolean
  inline(event: EventKey & EventTypeKey, verdict: RecordVerdict): Promise<InlineEnd>
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
): Promise<InlineEnd[]> {
  return Promise.all(
    events.map(async ({ id, type }, i): Promise<InlineEnd> => {
      const verdict = verdicts[i]!
      // This event is not in the log, but its signed content is: `contentGuard: 'reject'`.
      if (verdict.status === 'replayed') return { status: 'already_processed', reply: null }
      if (verdict.status === 'duplicate' && !verdict.equal && conflict === 'reject')
        return { status: 'already_received', reply: null }
      const key = { source, id }
      try {
        return await after.inline({ ...key, type }, verdict)
      } catch (error) {
        observer.notHandled(key, error)
        return { status: 'unknown', reply: null }
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
