/** The faults an examination can name: what each one does to the owner of the endpoint, and how to mend it. */
interface FaultEntry {
  readonly what: string
  readonly fix: string
}

export const faults = {
  unreachable: {
    what: 'No HTTP answer came.',
    fix: 'Check the URL and that the endpoint runs.',
  },
  rejects_valid: {
    what: 'A correctly signed event is refused, so the sender retries it and in the end gives up.',
    fix: 'Check that the endpoint has the same secret, the right provider and the right path, and verifies the received bytes.',
  },
  no_effect: {
    what: 'An event was acknowledged and nothing came of it.',
    fix: 'Record the event durably before the 2xx. If it was recorded, the probe may count something else: choose another --type, or wait longer with --wait.',
  },
  no_dedupe: {
    what: 'A second delivery of an event has a second effect. Every sender delivers twice sooner or later.',
    fix: 'Record the event id under a unique constraint before the effect, in the same transaction as the effect.',
  },
  race: {
    what: 'Deliveries that arrive together pass the check together: one event, several effects.',
    fix: 'Insert first and let a unique constraint decide; a look-up before an insert never can.',
  },
  short_dedupe: {
    what: 'The event is forgotten after a short while, and its next delivery has a second effect. Senders retry for days.',
    fix: 'Keep event ids longer than the sender retries, in a table and not in a cache.',
  },
  memory_dedupe: {
    what: 'Which events were handled is only known to the process: after a restart or deploy they have a second effect.',
    fix: 'Keep event ids in the database, under a unique constraint.',
  },
  dedupe_by_content: {
    what: 'The same event id with other bytes has a second effect: the bytes are compared, not the id.',
    fix: 'Deduplicate by the event id. Keep a hash of the bytes beside it, to notice conflicts.',
  },
  duplicate_refused: {
    what: 'A repeated delivery is answered with an error, so the sender keeps retrying and may switch the endpoint off.',
    fix: 'Answer a known event with 2xx: it has been received.',
  },
  mark_before_work: {
    what: 'An event whose handling failed is taken for done: its effect never happens.',
    fix: 'Commit the mark and the effect together, or mark after the work.',
  },
  lost_after_ack: {
    what: 'The endpoint acknowledged an event, failed to handle it and did not try again by itself; a sender does not deliver again after a 2xx.',
    fix: 'Retry from a durable record, or answer 5xx when the handling failed.',
  },
  effect_not_atomic: {
    what: 'A crash between the effect and its mark made the effect happen twice.',
    fix: 'Write the effect and the mark in one transaction; give effects outside a stable idempotency key.',
  },
  no_verification: {
    what: 'A delivery the sender did not sign is accepted: anyone who knows the URL can make events.',
    fix: 'Verify the signature over the received bytes and answer 401 when it does not match.',
  },
  verifier_crashes: {
    what: 'A bad signature makes the endpoint fail (5xx) and not refuse (4xx): a stranger can fill its logs or stop it.',
    fix: 'Compare lengths before timingSafeEqual, catch what the verifier throws, and answer 401.',
  },
  no_timestamp_check: {
    what: 'An old signed delivery is accepted: whoever has once seen one can send it again at any time.',
    fix: "Refuse deliveries whose signed time is outside the sender's window (five minutes for most).",
  },
  reserialised_signature: {
    what: 'The signature is checked over JSON that was parsed and written again. Valid events are refused whenever the sender spells them otherwise.',
    fix: 'Verify the raw body, before any JSON parser (express.raw, request.text(), await request.arrayBuffer()).',
  },
  order_refused: {
    what: 'An event that is older than the last one is refused, so the sender retries it until it gives up.',
    fix: 'Answer 2xx and ignore what is stale.',
  },
  slow_client: {
    what: 'A delivery that arrives slowly is refused or has the wrong effect.',
    fix: 'Read the body to its end before verifying; allow some seconds for it.',
  },
  slow_ack: {
    what: 'The answer takes longer than the sender waits: it counts as failed and is delivered again.',
    fix: 'Record, answer, and do the work in the background.',
  },
} as const satisfies Record<string, FaultEntry>

export type Fault = keyof typeof faults
