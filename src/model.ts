/**
 * The vocabulary: one word for each thing. Values and types, no I/O. `docs/lifecycle.md` draws the states and is checked
 * against `transitions`.
 */
import type { ErrorCode, HookonceError } from './errors.js'

/** One delivery passes these steps in order. They name code, logs, metrics and docs. */
export const steps = [
  'receive',
  'verify',
  'identify',
  'record',
  'claim',
  'handle',
  'settle',
  'retain',
] as const
export type Step = (typeof steps)[number]

/** Dead letter: `failed` with no next attempt. Review list: `ignored` as `unhandled` or `replayed_content`. */
export const states = ['pending', 'processing', 'succeeded', 'ignored', 'failed'] as const
export type State = (typeof states)[number]

export type Move = 'record' | 'claim' | 'settle' | 'release' | 'expire' | 'retry' | 'replay' | 'ignore'

export interface Transition {
  readonly from: State | 'new'
  readonly to: State
  readonly by: Move
  readonly when: string
}

/** Complete: a transition that is not listed never happens. The store contract tries them all. */
export const transitions: readonly Transition[] = [
  move('new', 'pending', 'record', 'the first verified delivery of the event is recorded'),
  move(
    'new',
    'ignored',
    'record',
    'known signed content arrives under a new id, and the replay policy is review',
  ),
  move('new', 'processing', 'record', 'a handler of the process that records the event can begin at once'),
  move('pending', 'processing', 'claim', 'a worker claims the event'),
  move('failed', 'processing', 'claim', 'the next attempt is due and a worker claims the event'),
  move('processing', 'succeeded', 'settle', 'the handler returned'),
  move('processing', 'ignored', 'settle', 'the handler ignored the event, or no handler matches'),
  move('processing', 'failed', 'settle', 'the handler threw'),
  move('processing', 'pending', 'release', 'a worker releases the event before its first attempt'),
  move('processing', 'failed', 'release', 'a worker releases the event before a later attempt'),
  move('processing', 'pending', 'expire', 'the lease of the first attempt expired'),
  move('processing', 'failed', 'expire', 'the lease of a later attempt expired'),
  move('failed', 'pending', 'retry', 'an operator retries the event'),
  move('ignored', 'pending', 'retry', 'an operator retries the event'),
  move('failed', 'pending', 'replay', 'an operator replays the event'),
  move('ignored', 'pending', 'replay', 'an operator replays the event'),
  move('succeeded', 'pending', 'replay', 'an operator replays the event with force'),
  move('pending', 'ignored', 'ignore', 'an operator ignores the event'),
  move('failed', 'ignored', 'ignore', 'an operator ignores the event'),
]

function move(from: Transition['from'], to: State, by: Move, when: string): Transition {
  return { from, to, by, when }
}

export function canMove(from: State | 'new', by: Move, to?: State): boolean {
  return transitions.some((t) => t.from === from && t.by === by && (to === undefined || t.to === to))
}

/** hookonce itself gives these reasons. A handler's `ignore(reason)` may use any other text. */
export const ignoredReasons = [
  'unhandled',
  'other_consumers',
  'replayed_content',
  'stale',
  'operator',
] as const

/** Limits of the log; bytes of a text are UTF-8. */
export const limits = {
  sourceBytes: 64,
  consumerBytes: 64,
  eventIdBytes: 255,
  eventTypeBytes: 255,
  referenceBytes: 255,
  labelBytes: 64,
  /** Labelled references of one event, with those that handlers add. */
  references: 20,
  reasonBytes: 1_000,
  errorBytes: 8_192,
  placeBytes: 2_048,
  effectNameBytes: 255,
  effectResultBytes: 262_144,
  replyBytes: 262_144,
  /** All names and values together. */
  replyHeaderBytes: 8_192,
  /** Intake has a lower limit (1 MiB), configurable up to this one. */
  bodyBytes: 64 * 1024 * 1024,
  recordBatch: 1_000,
  claimBatch: 1_000,
  /** Bodies that one claim returns. A larger one comes alone. */
  claimBytes: 32 * 1024 * 1024,
  restoreBatch: 1_000,
  listPage: 500,
  leaseMs: 24 * 60 * 60 * 1_000,
  /** The longest delay before the next attempt of an event, after a failure or a release. */
  delayMs: 366 * 24 * 60 * 60 * 1_000,
} as const

/** The source that a consumer follows. The main consumer of a source has the name of the source. */
export function followedSource(source: string): string {
  const end = source.indexOf('/')
  return end === -1 ? source : source.slice(0, end)
}

/** Two values, never joined into one string. */
export interface EventKey {
  readonly source: string
  readonly id: string
}

/** Audits, errors and log lines name the key so. An event's own id is `id`. */
export function named({ source, id }: EventKey): { source: string; eventId: string } {
  return { source, eventId: id }
}

/** Something that an event is about, and what it is: `customer`, `cus_123`. */
export interface Reference {
  readonly label: string
  readonly value: string
}

/** `order: 'reference'` goes by the reference of an event, so it is the label of no other. */
export const ownReference = 'reference'

export interface NewEvent {
  readonly id: string
  readonly type: string
  /** The object that the event is about first: an invoice, a repository. */
  readonly reference: string | null
  /** All labelled references, at most `limits.references`. One may be equal to `reference`. */
  readonly references?: readonly Reference[]
  /** SHA-256 of the content that every delivery of this id must repeat; null where the sender changes it on each retry. */
  readonly contentHash: Uint8Array | null
  /** SHA-256 of the signed content, where the signature does not cover the id; null where it does. */
  readonly guardHash: Uint8Array | null
  /** Events of one source and lane are claimed one at a time, in seq order; left out = no order. */
  readonly lane?: string | null
}

/**
 * For an event whose signed content is known under another id. `accept`: handle it and flag it with the event it equals,
 * because genuine senders repeat content. `review`: record it and do not handle it. `reject`: answer 409 and record nothing.
 */
export const contentGuards = {
  accept: { stores: true, handles: true },
  review: { stores: true, handles: false },
  reject: { stores: false, handles: false },
} as const
export type ContentGuard = keyof typeof contentGuards

/** A verified delivery: its raw bytes once, and all its events. */
export interface NewDelivery {
  readonly source: string
  /** Allow-listed headers, with lower-case names. They never contain credentials or signatures. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  readonly events: readonly NewEvent[]
  /** For events whose `guardHash` is known under another id (`EventRecord.sameAs`). Genuine senders also repeat content. */
  readonly contentGuard: ContentGuard
  /** Milliseconds; only for deliveries that arrived earlier (a spool). Otherwise the store's clock decides. */
  readonly receivedAt?: number
  /** `backfill`: read from the sender's API and not delivered. Default `delivery`. */
  readonly origin?: 'delivery' | 'backfill'
}

/** How an event came into the log: with a signature, from the sender's API (reconcile), or from another program. */
export const origins = ['delivery', 'backfill', 'import'] as const
export type Origin = (typeof origins)[number]

/** A duplicate is a result, not an error. */
export type RecordVerdict =
  | {
      readonly status: 'recorded'
      readonly seq: number
      readonly state: 'pending' | 'ignored'
      /** By the clock of the store. Set when the event was recorded under its token: see `RecordClaim`. */
      readonly leasedAt?: number
      /** This event repeats the signed content of the event with this id. */
      readonly sameAs?: string
    }
  | {
      readonly status: 'duplicate'
      readonly seq: number
      readonly state: State
      /** True when only an operator can move it: succeeded, ignored or a dead letter. */
      readonly final: boolean
      /** False = conflict: other content under the id. The first stays, and the other is kept beside it. */
      readonly equal: boolean
    }
  /** Known signed content under a new id, with the policy `reject`. Nothing was written. */
  | { readonly status: 'replayed' }
  /**
   * This event could not be stored, or its other content not kept. Other events of the batch may be stored. INVALID_INPUT
   * and EVENT_REFUSED: it never will be. Any other code is a fault of the store, and the sender must retry.
   */
  | { readonly status: 'refused'; readonly code: ErrorCode; readonly detail: string }

export type InlineStatus =
  | 'processed'
  | 'already_processed'
  | 'already_received'
  | 'failed'
  | 'unknown'
  /** It waits in the log, no worker runs it later, and the sender's next delivery runs it. */
  | 'not_handled'

export interface InlineEnd {
  readonly status: InlineStatus
  /** What the handler wants the sender to be answered. */
  readonly reply: Reply | null
}

/** The HTTP response that a handler has returned for the delivery of its event (inline mode). */
export interface Reply {
  readonly httpStatus: number
  /** With lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** A lease is the right to settle an event. It ends when its time is over or when the event is claimed again. */
export interface Lease {
  readonly seq: number
  readonly token: string
}

export interface ClaimOptions {
  readonly worker: string
  readonly limit: number
  readonly leaseMs: number
  /** Only these sources, each with a fair share of `limit`; all sources when left out. */
  readonly sources?: readonly string[]
  /** Events of these types stay due for others. */
  readonly except?: readonly EventTypeKey[]
  /** Only this event, even if its next attempt is not due yet, unless another lease on it is live. */
  readonly event?: EventKey
}

/**
 * A claim by `record`: a new event that has a token here is recorded under a lease of this worker, and its attempt is counted,
 * unless it is withheld or not the head of its lane. The caller chooses the tokens, so that a batch that is sent again
 * finds its own leases.
 */
export interface RecordClaim {
  readonly worker: string
  readonly leaseMs: number
  /** UUIDs, each used once. */
  readonly tokens: ReadonlyMap<NewEvent, string>
}

export interface EventTypeKey {
  readonly source: string
  readonly type: string
}

export interface ClaimedEvent extends EventKey {
  readonly lease: Lease
  readonly type: string
  readonly reference: string | null
  readonly receivedAt: number
  /** From 1, over all runs. */
  readonly attempt: number
  /** From 1, since the event was recorded or last restarted by an operator. */
  readonly tries: number
  /** Attempts directly before this one whose workers reported no outcome. */
  readonly losses: number
  readonly run: number
  /** From 0, in its delivery. */
  readonly part: number
  /** Hexadecimal. */
  readonly contentHash: string | null
  readonly headers: Readonly<Record<string, string>>
  /** Null when retention or erasure has removed the bytes, or when they cannot be read. */
  readonly body: Uint8Array | null
  readonly unreadable?: HookonceError
}

export type Outcome =
  | { readonly kind: 'succeeded' }
  | { readonly kind: 'ignored'; readonly reason: string }
  /** `retryInMs` null = no next attempt: a dead letter. `place`: the line of code that threw, empty when it is unknown. */
  | {
      readonly kind: 'failed'
      readonly error: string
      readonly retryInMs: number | null
      readonly place?: string
    }

export interface Settlement {
  readonly lease: Lease
  readonly outcome: Outcome
  /** That the handler or the worker has learned (`ctx.refer`). They are written with the outcome; not when it is `failed`. */
  readonly references?: readonly Reference[]
  /** The store's clock gives the end time. */
  readonly durationMs: number
}

/** Instants are milliseconds since 1970. */
export interface EventRecord extends EventKey {
  readonly seq: number
  readonly type: string
  readonly reference: string | null
  /** By label. Also those of other content of the event, and those that handlers added. */
  readonly references: readonly Reference[]
  readonly state: State
  /** The reason when `ignored`; the last error when `failed`; else null. */
  readonly reason: string | null
  readonly receivedAt: number
  readonly processedAt: number | null
  readonly attempts: number
  readonly run: number
  /**
   * When the event is due; null while it is processed and when it is final. For an event that waits for an earlier one of
   * its lane, the latest time at which it is checked again.
   */
  readonly nextAttemptAt: number | null
  /** 1 + the number of duplicates. */
  readonly deliveries: number
  readonly conflicts: number
  readonly lastDeliveryAt: number
  /**
   * The latest other content, an open one before those that were decided about. `decidedAt` null: the conflict is open. A
   * person has to run the other content, or decide for the first.
   */
  readonly lastConflict: {
    readonly at: number
    readonly hash: string
    readonly decidedAt: number | null
  } | null
  readonly contentHash: string | null
  /** Null, or the id of the event whose signed content this one repeats under another, unsigned id. */
  readonly sameAs: string | null
  /** `delivery`: with a signature. `backfill`: reconcile read it from the sender's API. `import`: from another program. */
  readonly origin: Origin
  /** `kept`: in the log. `removed`: by retention; an archive may contain it. `erased`: permanently. */
  readonly payload: 'kept' | 'removed' | 'erased'
}

export interface EventFilter {
  /** The name of the source. */
  readonly source?: string
  /** The exact event id. */
  readonly id?: string
  /** Exact, or a glob with `*`. */
  readonly type?: string
  /** Only events in this state. */
  readonly state?: State
  /** Only failed events: dead letters (true) or those with a next attempt (false). Matches none with another `state`. */
  readonly dead?: boolean
  /** The exact reason of ignored events. */
  readonly reason?: string
  /** A pattern for the reason or the last error, in which `*` stands for any text. */
  readonly reasonLike?: string
  /** Only events with at least this many attempts. */
  readonly minAttempts?: number
  /** The exact value of any reference. */
  readonly reference?: string
  /** Only with `reference`: the label that it must have. */
  readonly label?: string
  /** Received at or after this time, in milliseconds since 1970. */
  readonly from?: number
  /** Received before this time. */
  readonly to?: number
  /** Only events that were delivered more than once. */
  readonly hasDuplicates?: boolean
  /** Only events with an open conflict (true), or only events without (false). */
  readonly hasConflict?: boolean
  /** Only events with a `sameAs` (true), or only events without (false). */
  readonly flagged?: boolean
}

export interface EventPage {
  readonly events: readonly EventRecord[]
  /**
   * Null at the end. A page may be shorter than `limit` and still have a next one, because
   * the store reads a bounded number of rows per call.
   */
  readonly next: string | null
  /** True when the search stopped at that bound before the page was full. There may be more matches after `next`. */
  readonly cut?: true
}

export interface SourceStats {
  readonly source: string
  readonly recorded: number
  readonly pending: number
  readonly processing: number
  readonly retrying: number
  readonly succeeded: number
  readonly ignored: number
  readonly dead: number
  /** The oldest due event waits for a worker since then; null when no event is due. */
  readonly oldestDueAt: number | null
  /** Set when the backlog is too large to count: pending, retrying and succeeded are then estimates. */
  readonly estimated?: true
}

/** Each event is judged on its own. */
export interface Action {
  readonly verb: 'retry' | 'replay' | 'ignore'
  readonly events: readonly EventKey[]
  readonly actor: string
  readonly note: string
  /** Required to replay a succeeded event. */
  readonly force?: boolean
  /**
   * Of a retry or replay of one event: what a person has found out about effects of `ctx.once` whose end is unknown, by name:
   * the result as JSON, or null = it did not happen. INVALID_INPUT when the end of one is not unknown.
   */
  readonly effects?: Readonly<Record<string, string | null>>
  /**
   * About other content of the event: the one with this hash, which must be open (CONFLICT_CHANGED), or with `true` the
   * latest, an open one before those that were decided about. `replay`: run it; the present content is then kept beside
   * it. `ignore`: decide for the present content, in any state of the event; with `true` against all that are open.
   */
  readonly conflict?: boolean | string
  /** Returns the results without changing anything. */
  readonly dryRun?: boolean
}

/**
 * Why an action leaves an event as it is. Without a readable payload no handler can run: a retry or replay would make the
 * event a dead letter.
 */
export const actionRefusals = [
  'EVENT_NOT_FOUND',
  'EVENT_PROCESSING',
  'MOVE_FORBIDDEN',
  'FORCE_NEEDED',
  'PAYLOAD_REMOVED',
  'CONFLICT_NOT_FOUND',
  'CONFLICT_CHANGED',
  'PAYLOAD_UNREADABLE',
] as const satisfies readonly ErrorCode[]
export type ActionRefusal = (typeof actionRefusals)[number]

export type ActionResult =
  | { readonly done: true; readonly from: State; readonly to: State }
  | { readonly done: false; readonly code: ActionRefusal }

/** A reader of the log has seen everything up to here. 0 = the beginning. */
export type Position = number

export interface TailOptions {
  readonly after: Position
  readonly limit: number
  readonly source?: string
}

/** Events in the order they were recorded. An event whose commit is late is never skipped. */
export interface TailPage {
  readonly events: readonly EventRecord[]
  /**
   * The `after` of the next call. It may be beyond the last event, even on an empty page: no event will appear between
   * them. Unchanged = nothing new.
   */
  readonly position: Position
  /** True when retention has removed events after `after`, which the reader has missed. */
  readonly gap: boolean
}
