/**
 * Records events that the sender lists and the log lacks, the oldest first, so that those of one reference keep their order.
 * The unique key decides: an event that is delivered at the same moment is recorded once. A recorded event has no content hash,
 * so a delivery of it is a duplicate even though its bytes differ (another API version, other fields).
 */
import { newDelivery } from '../intake/new-delivery.js'
import type { NewDelivery } from '../model.js'
import type { IdentifiedEvent, ListedEvent, ListReader, Source } from '../provider.js'
import type { Store } from '../store.js'
import type { Tally } from './report.js'

const BATCH = 100

export interface RecoverDeps {
  readonly store: Store
  readonly name: string
  readonly source: Source
  readonly reader: ListReader
  laneOf(source: string, event: IdentifiedEvent): string | null
  isHandled(type: string): boolean
  recorded(count: number): void
}

/** Returns the events that the sender was asked to deliver again. */
export async function recover(
  deps: RecoverDeps,
  missing: readonly ListedEvent[],
  tally: Tally,
): Promise<ListedEvent[]> {
  const oldestFirst = missing.toSorted((a, b) => a.occurredAt - b.occurredAt)
  const waiting: ListedEvent[] = []
  let batch: ListedEvent[] = []
  for (const event of oldestFirst) {
    const found = await bodyOf(deps, event, tally)
    if (found === 'waiting') waiting.push(event)
    if (typeof found === 'string') continue
    batch.push(found)
    if (batch.length < BATCH) continue
    await record(deps, batch, tally)
    batch = []
  }
  await record(deps, batch, tally)
  return waiting
}

async function bodyOf(
  { source, reader, isHandled }: RecoverDeps,
  event: ListedEvent,
  tally: Tally,
): Promise<ListedEvent | 'waiting' | 'lacking'> {
  const { id, type, occurredAt } = event
  if (event.delivery !== null) return event
  const lacks = (why: string): 'lacking' => {
    tally.count('missing', type)
    tally.lacks({ id, type, occurredAt, why })
    return 'lacking'
  }
  // A request for each: only for events that somebody wants.
  if (!isHandled(type)) return lacks('no handler takes this type, so its body was not asked for')
  const whole = source.list!.hasBodies ? await reader.complete(event) : null
  if (whole) return whole
  if (!(await reader.redeliver(event)))
    return lacks('the sender has no body of it and cannot deliver it again')
  return 'waiting'
}

async function record(deps: RecoverDeps, events: readonly ListedEvent[], tally: Tally): Promise<void> {
  if (events.length === 0) return
  const verdicts = await deps.store.record(events.map((event) => backfillOf(deps, event)))
  for (const [i, { id, type, occurredAt }] of events.entries()) {
    const verdict = verdicts[i]![0]!
    if (verdict.status === 'recorded') tally.recovered(type)
    // It was delivered after the log was asked.
    else if (verdict.status === 'duplicate') tally.count('known', type)
    else {
      tally.count('missing', type)
      const why = verdict.status === 'refused' ? verdict.detail : verdict.status
      tally.lacks({ id, type, occurredAt, why })
    }
  }
  deps.recorded(verdicts.filter(([verdict]) => verdict!.status === 'recorded').length)
}

function backfillOf({ name, source, laneOf }: RecoverDeps, event: ListedEvent): NewDelivery {
  const { id, type, reference } = event
  const delivery = event.delivery!
  const identified: IdentifiedEvent = { id, type, reference, payload: undefined, content: null }
  const made = newDelivery(name, source, delivery, [identified], laneOf)
  return {
    ...made,
    origin: 'backfill',
    events: made.events.map((one) => ({ ...one, contentHash: null, guardHash: null })),
  }
}
