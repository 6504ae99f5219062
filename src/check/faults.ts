/** The worst faults come first. */
interface FaultEntry {
  readonly what: string
  readonly fix: string
}

export const faults = {
  unreachable: {
    what: 'The endpoint gave no HTTP answer.',
    fix: 'Check the URL and that the endpoint runs.',
  },
  rejects_valid: {
    what: 'A correctly signed event is refused, so the sender retries it and finally gives up.',
    fix: 'Check that the endpoint has the same secret, the right provider and the right path, and that it verifies the received bytes.',
  },
  no_effect: {
    what: 'An event was acknowledged and had no effect.',
    fix: 'Record the event durably before the 2xx. If it was recorded, the probe may count something else: choose another --type, or raise --wait.',
  },
  no_dedupe: {
    what: 'A second delivery of an event has a second effect. Every sender delivers some events twice.',
    fix: 'Record the event id under a unique constraint before the effect, in the same transaction as the effect.',
  },
  race: {
    what: 'Deliveries that arrive at the same time all pass the duplicate check: one event, several effects.',
    fix: 'Insert first and let a unique constraint decide. A look-up before the insert cannot prevent this.',
  },
  short_dedupe: {
    what: 'The endpoint forgets the event after a short time, and its next delivery has a second effect. Senders retry for days.',
    fix: 'Keep event ids longer than the sender retries, in a table instead of a cache.',
  },
  memory_dedupe: {
    what: 'The endpoint keeps handled event ids only in memory: after a restart or deploy a repeated event has a second effect.',
    fix: 'Keep event ids in the database, under a unique constraint.',
  },
  dedupe_by_content: {
    what: 'The same event id with other bytes has a second effect: the endpoint compares the bytes, not the id.',
    fix: 'Deduplicate by the event id. Store a hash of the bytes with it, to detect conflicts.',
  },
  duplicate_refused: {
    what: 'A repeated delivery is answered with an error, so the sender keeps retrying and may disable the endpoint.',
    fix: 'Answer a known event with 2xx.',
  },
  mark_before_work: {
    what: 'An event whose handling failed counts as done, so its effect never happens.',
    fix: 'Mark the event as done in the same transaction as its effect, or after it.',
  },
  lost_after_ack: {
    what: 'The endpoint acknowledged an event, failed to handle it and did not retry it; a sender does not deliver again after a 2xx.',
    fix: 'Retry from a durable record, or answer 5xx when handling fails.',
  },
  effect_not_atomic: {
    what: 'A crash after the effect, before the event was marked as done, made the effect happen twice.',
    fix: 'Write the effect and the mark in one transaction; pass a stable idempotency key to effects outside the database.',
  },
  no_verification: {
    what: 'A delivery that the sender did not sign is accepted: anyone who knows the URL can create events.',
    fix: 'Verify the signature over the received bytes and answer 401 when it does not match.',
  },
  verifier_crashes: {
    what: 'A bad signature gets a 5xx instead of a 4xx: a stranger can fill the logs of the endpoint or stop it.',
    fix: 'Compare lengths before timingSafeEqual, catch errors of the verifier, and answer 401.',
  },
  no_timestamp_check: {
    what: 'An old signed delivery is accepted: anyone who has captured one can send it again at any time.',
    fix: "Refuse deliveries whose signed time is outside the sender's window (five minutes for most).",
  },
  reserialised_signature: {
    what: 'The signature is checked over JSON that was parsed and serialised again. Valid events are refused when the sender formats its JSON differently.',
    fix: 'Verify the raw body, before any JSON parser (express.raw, request.text(), await request.arrayBuffer()).',
  },
  order_refused: {
    what: 'An event that is older than the last one is refused, so the sender retries it and finally gives up.',
    fix: 'Answer 2xx and ignore the stale event.',
  },
  slow_client: {
    what: 'A delivery that arrives slowly is refused or has the wrong effect.',
    fix: 'Read the whole body before verifying it, and allow some seconds for that.',
  },
  slow_ack: {
    what: 'The answer takes longer than the sender waits, so the delivery counts as failed and is repeated.',
    fix: 'Record the event, answer, and do the work in the background.',
  },
} as const satisfies Record<string, FaultEntry>

export type Fault = keyof typeof faults
