/**
 * The contract of a provider: the rules of one sender. `providers/` holds one declarative file for each.
 * A provider never throws on a delivery: `verify` answers a verdict, `identify` a list, and bad input is an
 * answer like any other. It does no I/O, with one exception: a key set (JWKS) may be fetched and kept.
 */

/** One HTTP arrival, as received. Header names are lower case; the body is the bytes, not a string. */
export interface Delivery {
  readonly method: string
  /** As the sender called it, absolute where the adapter knows the host: some senders sign it. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** Why a delivery is not believed. Goes to logs and counters, never to the sender. */
export const rejectReasons = [
  'missing_signature',
  'malformed_signature',
  'bad_signature',
  'missing_timestamp',
  'malformed_timestamp',
  'stale_timestamp',
  'future_timestamp',
  'missing_field',
  'unknown_key',
  'key_unavailable',
  'malformed_token',
  'wrong_claims',
  'malformed_body',
] as const
export type RejectReason = (typeof rejectReasons)[number]

export type Verification =
  | {
      readonly ok: true
      /** Which of the configured secrets matched, from 0: tells when an old one can go. */
      readonly secretIndex: number
    }
  | { readonly ok: false; readonly reason: RejectReason }

/** One event as the sender's rules name it. */
export interface IdentifiedEvent {
  readonly id: string
  readonly type: string
  readonly reference: string | null
  /** Parsed on first use. For a delivery with several events, this event's part. */
  readonly payload: unknown
  /** The bytes that must be the same when this id comes back; null where the sender changes them on each retry. */
  readonly content: Uint8Array | null
}

/** One event of a stored delivery, as the rules find it again. */
export interface StoredPart {
  /** Null where it cannot be told without the signature and the headers that are not kept. */
  readonly id: string | null
  readonly type: string
  readonly reference: string | null
  /** True where the delivery is the event, and not a part of it. */
  readonly isWhole: boolean
  /** Anew each time: a handler may change what it gets. */
  parse(): unknown
}

/** An answer to a handshake: the delivery was a question about the endpoint, not an event. Nothing is stored. */
export interface HandshakeReply {
  readonly httpStatus: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface SignOptions {
  readonly body: Uint8Array | string
  /** Milliseconds; goes into the signed timestamp where the sender has one. */
  readonly now: number
  readonly method?: string
  readonly url?: string
  /** The id and type, for senders that carry them in headers. */
  readonly id?: string
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface SampleOptions {
  readonly type?: string
  readonly id?: string
  readonly now: number
}

/** What a sender wants to hear. Hookonce answers 200 with its own small JSON unless this says otherwise. */
export interface ExpectedAnswer {
  readonly httpStatus?: number
  readonly contentType?: string
  readonly body?: string
  /** How long the sender waits; null where its documentation does not say. */
  readonly timeLimitMs: number | null
}

/** What a verification scheme is, as facts: for start-up warnings, documentation and the provider contract. */
export interface SchemeFacts {
  readonly kind: 'hmac' | 'ed25519' | 'ecdsa' | 'rsa' | 'jwt' | 'token' | 'basic' | 'none'
  /** The option that holds its secrets or public keys. */
  readonly credential: string
  /** The fields the signature or token is read from. */
  readonly signatureIn: readonly string[]
  /** The list whose parts are each signed on their own; fields are then relative to the part. */
  readonly each: string | null
  /** How the signature is written; null where it is not bytes written as text (tokens). Hex may be in either case. */
  readonly encoding: 'hex' | 'base64' | 'base64url' | null
  /** Between several signatures in one field; null where only one is allowed. */
  readonly separator: string | null
  readonly covers: {
    /** `bytes`: any changed byte is noticed. `values`: any changed value is, its spelling is not. */
    readonly body: 'bytes' | 'values' | 'none'
    readonly url: boolean
    /** Other fields it covers one by one, such as `header:webhook-id`. */
    readonly fields: readonly string[]
  }
  readonly timestamp: {
    readonly in: string
    readonly unit: TimestampUnit
    /** Null: read, but not held against the clock unless the source sets `toleranceMs`. */
    readonly toleranceMs: number | null
  } | null
}

/** Seconds or milliseconds since 1970, or ISO 8601 text; `iso-utc`: without a zone it is UTC (Orb). */
export type TimestampUnit = 's' | 'ms' | 'iso' | 'iso-utc'

export interface Provider {
  /** The catalogue key, which is also the name of its factory. */
  readonly key: string
  readonly name: string
  readonly docs: string
  /** `verified`: its rules were read in the sender's own documentation or code. */
  readonly confidence: 'verified' | 'likely'
  /** Whether the signature covers the event id. Where it does not, the content guard applies. */
  readonly idIsSigned: boolean
  /** How long the sender keeps retrying; null where it is not documented. */
  readonly retryWindowMs: number | null
  readonly answer: ExpectedAnswer
  /** What to do with known signed content under a new id, where the id is not signed. */
  readonly contentGuard: ContentGuard
  /** Headers worth keeping beside the allow-list that applies to all. */
  readonly keepHeaders: readonly string[]
  /** The event types it has samples of. */
  readonly sampleTypes: readonly string[]
  /** How often each configured secret has matched, in order. */
  readonly secretHits: readonly number[]
  /** True only for `unverified(...)`: anyone can post to this source. Start-up warns. */
  readonly unverified: boolean
  readonly scheme: SchemeFacts
  /** The text with this source's secrets masked, for what is stored and logged. */
  conceal?(text: string): string

  verify(delivery: Delivery, options: { now: number }): Verification | Promise<Verification>
  /** Every event in the delivery; empty when it has none that can be named. */
  identify(delivery: Delivery): readonly IdentifiedEvent[]
  /**
   * What was signed, where the id was not: the same again under another id is a repetition. The body where nothing is
   * signed. Null: there is nothing to compare, because the id is signed or equal content is usual.
   */
  guarded?(delivery: Delivery): readonly (string | Uint8Array)[] | null
  /** The same list from a stored delivery, in the same order: what a handler gets as its payload. */
  parts?(delivery: Delivery): readonly StoredPart[]
  /** The reply, when the delivery is a handshake; else null. Called before `verify`: it checks what it must itself. */
  handshake(delivery: Delivery, options: { now: number }): HandshakeReply | null
  /** A delivery as this sender would make it, signed with the first secret. */
  sign(options: SignOptions): Delivery | Promise<Delivery>
  /** A realistic body (and the headers that go with it), to be signed. */
  sample(options: SampleOptions): SignOptions
}

/**
 * `accept`: handle it and flag it with the event it equals, because genuine senders repeat themselves. `review`: keep it,
 * do not handle it. `reject`: answer 409, keep nothing.
 */
export type ContentGuard = 'review' | 'accept' | 'reject'

/** A configured place events come from: a provider with its secrets, and how this one is to be run. */
export interface Source extends Provider {
  readonly mode: 'background' | 'inline'
  /** The answer when an id comes back with other bytes. */
  readonly conflict: 'ack' | 'reject'
  /** Background mode: a sender's redelivery of a dead letter gives it a new start. */
  readonly rearm: boolean
  /** One event of a reference at a time, in the order received. */
  readonly order: 'reference' | null
  readonly retention: { readonly payloadsMs?: number; readonly eventsMs?: number }
}

/** What every provider factory takes besides its secrets. */
export interface SourceOptions {
  readonly mode?: 'background' | 'inline'
  readonly conflict?: 'ack' | 'reject'
  readonly contentGuard?: ContentGuard
  /** A redelivery of a dead letter gives it a new start. Default false. */
  readonly rearm?: boolean
  /** One event of a reference at a time, in the order received. Default: no order. */
  readonly order?: 'reference'
  /** How far a signed timestamp may be from now, both ways. */
  readonly toleranceMs?: number
  readonly retention?: { readonly payloadsMs?: number; readonly eventsMs?: number }
}
