/**
 * The contract of a source: the rules of one sender. `providers/` has one declarative file for each sender.
 * A source never throws on a delivery: `verify` returns a verdict and `identify` a list, also for bad input. It does
 * no I/O, except that it may fetch and cache public keys (a key set, a certificate).
 */

import type { Duration } from './duration.js'
import type { ContentGuard, Reference } from './model.js'

/** One HTTP request, as received. Header names are in lower case. */
export interface Delivery {
  readonly method: string
  /** Absolute if the adapter knows the host: some senders sign it. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** For logs and counters. The sender is not told why its delivery was rejected. */
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
      /** The index of the secret that matched, from 0: it shows when an old secret can be removed. */
      readonly secretIndex: number
    }
  | { readonly ok: false; readonly reason: RejectReason }

export interface IdentifiedEvent {
  readonly id: string
  readonly type: string
  readonly reference: string | null
  /** What the event is about, by label. More than `limits.references` are left out of the log. */
  readonly references?: readonly Reference[]
  /** Parsed when it is first read. If the delivery has several events: the slice of this event. */
  readonly payload: unknown
  /** The bytes that must be equal when this id is received again; null if the sender changes them on each retry. */
  readonly content: Uint8Array | null
}

/** One event of a stored delivery: its slice of the stored bytes. */
export interface StoredSlice {
  /** Null if the id was in the signature or in a header that is not stored. */
  readonly id: string | null
  readonly type: string
  readonly reference: string | null
  /** True if the delivery is one event. */
  readonly isWhole: boolean
  /** As received. All of the body if the delivery is one event. */
  readonly bytes: Uint8Array
  /** Returns a new value each time: a handler may change it. */
  parse(): unknown
}

/** The answer to a handshake: a delivery that asks about the endpoint and carries no event. Nothing is stored. */
export interface HandshakeReply {
  readonly httpStatus: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface SignOptions {
  readonly body: Uint8Array | string
  /** Milliseconds; the signed timestamp, if the sender has one. */
  readonly now: number
  readonly method?: string
  readonly url?: string
  /** Id and type are written to headers, if the sender has headers for them. */
  readonly id?: string
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface SampleOptions {
  readonly type?: string
  readonly id?: string
  readonly now: number
}

/** The answer that a sender needs. Default: 200 with a small JSON body. */
export interface ExpectedAnswer {
  readonly httpStatus?: number
  readonly contentType?: string
  readonly body?: string
  /** Null if the sender does not document how long it waits. */
  readonly timeLimitMs: number | null
}

/** What a sender does with an endpoint that fails, from its documents. The texts follow its name, and stand alone. */
export interface Disabling {
  /** `disables an endpoint after 5 days of failures` */
  readonly when: string
  /** A sentence that says where it is switched on again. */
  readonly again: string
  readonly docs: string
  /** `likely`: described by others, or not in all parts. */
  readonly confidence: 'verified' | 'likely'
}

/** Facts for start-up warnings, documentation and the provider contract. */
export interface SchemeFacts {
  readonly kind: 'hmac' | 'ed25519' | 'ecdsa' | 'rsa' | 'jwt' | 'token' | 'basic' | 'mtls' | 'none'
  /** The option that holds the secrets or public keys. */
  readonly credential: string
  readonly signatureIn: readonly string[]
  /** Each element of this list has a signature. Fields are then relative to the element. */
  readonly each: string | null
  /** Null for a token. Hex may have either case. */
  readonly encoding: 'hex' | 'base64' | 'base64url' | null
  /** Separates several signatures in one field; null if only one is allowed. */
  readonly separator: string | null
  readonly covers: {
    /**
     * `bytes`: every changed byte is detected. `values`: every changed value is, but not another spelling of it.
     * `checksum`: only a checksum is signed, and anyone can make another body that has it.
     */
    readonly body: 'bytes' | 'values' | 'checksum' | 'none'
    readonly url: boolean
    /** Other covered fields, such as `header:webhook-id`. */
    readonly fields: readonly string[]
  }
  readonly timestamp: {
    readonly in: string
    readonly unit: TimestampUnit
    /** Null: compared with the clock only if the source sets `tolerance`. */
    readonly toleranceMs: number | null
  } | null
}

/** Seconds or milliseconds since 1970, or ISO 8601 text. `iso-utc`: a time without a zone is UTC (Orb). */
export type TimestampUnit = 's' | 'ms' | 'iso' | 'iso-utc'

/** The sender signs for all of its customers with one key: a valid signature does not mean that a delivery is ours. */
export interface SharedKey {
  /** Every delivery must have the value of this option, signed. Null if nothing in a delivery names its receiver. */
  readonly namedBy: string | null
  /** A sentence for docs/providers.md: the check that is left to the handler. */
  readonly note?: string
}

/** How often the log is compared with the sender's list. */
export interface ReconcileTimes {
  /** `'1h'`: a run begins an hour after the last one began. */
  readonly every: Duration
  /** How far the first run goes back, and how long an event that is still missing is looked for. Default `'2d'`. */
  readonly window?: Duration
}

/** The sender's own list of what it has sent, from its API: reconcile compares the log with it. */
export interface SenderList {
  readonly docs: string
  readonly confidence: 'verified' | 'likely'
  /** `deliveries`: sent to this endpoint. `events`: of the account, whether or not the endpoint subscribes to them. */
  readonly of: 'deliveries' | 'events'
  /** It goes back this far. Null: not documented. */
  readonly reachMs: number | null
  /** Ends the sentence "The list does not have ...". */
  readonly lacks: string
  /** Whether it finds a range of time. If not, it lists from the newest back. */
  readonly byTime: boolean
  /** What the user has to do before it can be read; null when it can. */
  readonly problem: string | null
  /** False: the sender can only be asked to deliver an event again. */
  readonly hasBodies: boolean
  /** Whether `has` can be asked. */
  readonly knowsIds: boolean
  /** For one run. */
  open(options: { readonly signal: AbortSignal }): ListReader
}

/** Its methods throw SENDER_REFUSED or SENDER_FAILED. */
export interface ListReader {
  readonly requests: number
  /** With `of: 'events'`; null when the sender does not tell. */
  scope(): Promise<ListScope | null>
  /** In any order; an event may be listed more than once. */
  pages(range: ListRange): AsyncIterable<readonly ListedEvent[]>
  /** The event with its delivery. Null: the sender does not have the body. */
  complete(event: ListedEvent): Promise<ListedEvent | null>
  /** False: the sender cannot deliver it again. */
  redeliver(event: ListedEvent): Promise<boolean>
  /** Whether the sender knows an event of this id, of any time. */
  has(id: string): Promise<boolean>
}

/** From `since` to before `until`, in milliseconds by the clock of the sender. */
export interface ListRange {
  readonly since: number
  readonly until: number
}

/** What the sender sends to the endpoint. */
export interface ListScope {
  /** Types and globs (`invoice.*`, `*`). */
  readonly types: readonly string[]
  /** Nothing was sent to it before. */
  readonly since?: number
  /** The sender has switched the endpoint off. */
  readonly disabled?: boolean
}

/** Named by the rules of the provider, as a delivery of it. */
export interface ListedEvent {
  readonly id: string
  readonly type: string
  readonly reference: string | null
  /** By the clock of the sender. */
  readonly occurredAt: number
  /** Without a signature. Null when the list has no bodies: `complete` asks for it. */
  readonly delivery: Delivery | null
}

/** A configured origin of events: the rules of a provider with the secrets and the settings of the user. */
export interface Source<Key extends string = string> {
  readonly mode: 'background' | 'inline'
  /** Decides about a known id with other bytes. */
  readonly conflict: 'ack' | 'reject'
  /** Background mode: a dead letter that the sender delivers again is retried. */
  readonly rearm: boolean
  /** Events of one reference are handled one at a time, in the order received. `reference`, or one of `labels`. */
  readonly order: string | null
  /** The labels that its events may have references of. */
  readonly labels?: readonly string[]
  readonly retention: RetentionAges
  /** The catalogue key, and the name of the factory. */
  readonly key: Key
  readonly name: string
  readonly docs: string
  /** `verified`: all rules come from the sender's documentation or code. */
  readonly confidence: 'verified' | 'likely'
  /** Whether the signature covers the event id. If not, the content guard applies. */
  readonly idIsSigned: boolean
  /** Null if the key signs only our deliveries, or is a secret. */
  readonly sharedKey: SharedKey | null
  /** Null if the sender does not document how long it retries. */
  readonly retryWindowMs: number | null
  /** Left out if the sender does not document that it disables endpoints. */
  readonly disables?: Disabling | null
  /** Its silence raises no alarm. */
  readonly mayBeSilent?: boolean
  readonly answer: ExpectedAnswer
  /** Decides about known signed content under a new id, if the id is not signed. */
  readonly contentGuard: ContentGuard
  /** Stored besides the headers of the general allow-list. */
  readonly keepHeaders: readonly string[]
  /** Reading it loads the samples. */
  readonly sampleTypes: readonly string[]
  /**
   * Separates family and action in a type such as `pull_request.opened`. A handler for the family gets every type of it
   * that has no handler.
   */
  readonly typeSeparator?: string
  /** Counts the matches of each secret, in the configured order. */
  readonly secretHits: readonly number[]
  /** True only for `unverified(...)`: anyone can post to this source, and start-up warns about it. */
  readonly unverified: boolean
  readonly scheme: SchemeFacts
  /** Where the sender has an API that lists its events. */
  readonly list?: SenderList
  /** Compares the log with the list on a schedule. */
  readonly reconcile?: ReconcileTimes
  /** Masks the secrets of this source in a text. */
  conceal?(text: string): string
  /** Digests under a random key of this process: equal digests are equal secrets. */
  readonly secretDigests?: readonly string[]

  verify(delivery: Delivery, options: { now: number }): Verification | Promise<Verification>
  /** Empty if no event has an id. */
  identify(delivery: Delivery): readonly IdentifiedEvent[]
  /**
   * The signed content, or the body if nothing is signed: equal content under another id is a repetition. Null: no
   * comparison, because the id is signed or equal content is usual.
   */
  guarded?(delivery: Delivery): readonly (string | Uint8Array)[] | null
  /** Finds the events of a stored delivery in the order of `identify`: a handler gets the payload of its slice. */
  slices?(delivery: Delivery): readonly StoredSlice[]
  /** Null if the delivery is not a handshake. It is called before `verify` and checks a signature itself. */
  handshake(delivery: Delivery, options: { now: number }): HandshakeReply | null
  /** Signs with the first secret. */
  sign(options: SignOptions): Delivery | Promise<Delivery>
  /** Makes a realistic body with its headers, to be signed. */
  sample(options: SampleOptions): SignOptions
  /** The same source with new random credentials: it signs as somebody who does not know the secret. */
  impostor?(): Source<Key>
}

export interface RetentionAges {
  /** Payloads of finished events. Default 30 days. */
  readonly payloads?: Duration
  /**
   * Finished events and their keys: for this time, a second delivery is a duplicate. Default 90 days, and `forever` when the
   * sender signs deliveries without a time that is checked: a captured delivery is then valid for ever.
   */
  readonly events?: Duration | 'forever'
  /** Attempts of finished events. Default: as long as the events, and at most 90 days. */
  readonly attempts?: Duration
  /** Audits. Default: as long as the events, and at most 90 days. */
  readonly audits?: Duration
}

/** The options of every provider factory besides its secrets. */
export interface SourceOptions {
  /** `background`: the sender is answered when the event is recorded, and the handler runs after that. `inline`: the handler runs inside the request. Default `background`. */
  readonly mode?: 'background' | 'inline'
  /** The answer when a known id comes with other content: `ack` is 200, `reject` is 409. The content is kept either way. Default `ack`. */
  readonly conflict?: 'ack' | 'reject'
  /** For senders whose signature does not cover the event id, when known signed content comes under a new id: `accept` handles and flags it, `review` stores it as ignored, `reject` refuses it. Default `accept`, and `review` for Mailgun and PayPal. */
  readonly contentGuard?: ContentGuard
  /** Retries a dead letter that the sender delivers again. Default false. */
  readonly rearm?: boolean
  /** Events of one reference are handled one at a time, in the order received: `reference`, or a label such as `customer`. Default: no order. */
  readonly order?: string
  /** More references of each event, by label: `{ order: 'json:data.object.metadata.order_id' }`. Of a list of fields, the first that is found counts. */
  readonly references?: Readonly<Record<string, string | readonly string[]>>
  /** The greatest difference between a signed timestamp and now, before or after. */
  readonly tolerance?: Duration
  /** True for a source that may stop for days or weeks: its silence raises no alarm. Default false. */
  readonly mayBeSilent?: boolean
  /** Ages of this source; those that are left out are the ages of `retention` of the inbox. */
  readonly retention?: RetentionAges
}
