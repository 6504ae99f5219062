/** An event as its handler sees it, from what was claimed. */
import type { ClaimedEvent } from '../model.js'
import type { Source } from '../provider.js'
import type { HandledEvent } from './handler.js'
import { partOf } from './stored-parts.js'

export function asHandledEvent(source: Source, claimed: ClaimedEvent, body: Uint8Array): HandledEvent {
  let parsed: { value: unknown } | null = null
  return {
    source: claimed.source,
    id: claimed.eventId,
    type: claimed.eventType,
    reference: claimed.reference,
    raw: body,
    headers: claimed.headers,
    receivedAt: claimed.receivedAt,
    get payload() {
      parsed ??= { value: partOf(source, claimed, body)?.parse() ?? null }
      return parsed.value
    },
  }
}

/** The same event with another payload; like the first it keeps every field when it is spread or written as JSON. */
export function withPayload(event: HandledEvent, payload: unknown): HandledEvent {
  const { source, id, type, reference, raw, headers, receivedAt } = event
  return { source, id, type, reference, raw, headers, receivedAt, payload }
}
