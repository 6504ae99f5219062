/** An event as its handler sees it, from what was claimed. */
import type { ClaimedEvent } from '../model.js'
import type { Source } from '../provider.js'
import type { HandledEvent } from './handler.js'

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
      parsed ??= { value: parse(source, claimed, body) }
      return parsed.value
    },
  }
}

/** The same event with another payload; like the first it keeps every field when it is spread or written as JSON. */
export function withPayload(event: HandledEvent, payload: unknown): HandledEvent {
  const { source, id, type, reference, raw, headers, receivedAt } = event
  return { source, id, type, reference, raw, headers, receivedAt, payload }
}

/** The provider's reading of the bytes; where the id was in a header or URL that is not kept, the same without it. */
function parse(source: Source, { headers, part }: ClaimedEvent, body: Uint8Array): unknown {
  const events = source.identify({ method: 'POST', url: 'http://localhost/', headers, body })
  const event = events[part] ?? events[0]
  return event ? event.payload : parsePlainly(headers['content-type'] ?? '', new TextDecoder().decode(body))
}

/** JSON where it is JSON, a form as an object without prototype, else text. */
function parsePlainly(contentType: string, text: string): unknown {
  if (/^application\/x-www-form-urlencoded\s*(;|$)/i.test(contentType)) {
    return Object.assign(Object.create(null), Object.fromEntries(new URLSearchParams(text)))
  }
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
