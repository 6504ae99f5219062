/**
 * The dictionary: one word per thing. Everything here is plain values and types; nothing here does I/O.
 * `docs/lifecycle.md` draws the states; `transitions` below is the table it is checked against.
 */
import { sha256 } from './digest.js'
import type { ErrorCode, HookonceError } from './errors.js'

/** The steps of one delivery, in order. The same words name code, logs, metrics and docs. */
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

/** Where an event stands. Dead letter = `failed` with no next attempt; review list = `ignored` for a review reason. */
export const states = ['pending', 'processing', 'succeeded', 'ignored', 'failed'] as const
export type State = (typeof states)[number]

/** An event in a final state is out of the workers' reach: only an operator moves it (I5). */
export function isFinal(state: State, nextAttemptAt: number | null): boolean {
  return state === 'succeeded' || state === 'ignored' || (state === 'failed' && nextAttemptAt === null)
}

/** What moves an event from one state to the next. */
export type Move = 'record' | 'claim' | 'settle' | 'release' | 'expire' | 'retry' | 'replay' | 'ignore'

export interface Transition {
  readonly from: State | 'new'
  readonly to: State
  readonly by: Move
  readonly when: string
}

/** The state machine, whole. A pair that is not here does not happen: the store contract tries them all. */
export const transitions: readonly Transition[] = [
  { from: 'new', to: 'pending', by: 'record', when: 'its first verified delivery is recorded' },
  {
    from: 'new',
    to: 'ignored',
    by: 'record',
    when: 'known signed content arrives under a new id, and the source withholds it',
  },
  { from: 'pending', to: 'processing', by: 'claim', when: 'a worker takes it' },
  { from: 'failed', to: 'processing', by: 'claim', when: 'its next attempt is due and a worker takes it' },
  { from: 'processing', to: 'succeeded', by: 'settle', when: 'the handler returned' },
  { from: 'processing', to: 'ignored', by: 'settle', when: 'the handler ignored it, or there is none' },
  { from: 'processing', to: 'failed', by: 'settle', when: 'the handler threw' },
  { from: 'processing', to: 'pending', by: 'release', when: 'handed back before its first attempt began' },
  { from: 'processing', to: 'failed', by: 'release', when: 'handed back before a later attempt began' },
  { from: 'processing', to: 'pending', by: 'expire', when: 'the lease of its first attempt ran out' },
  { from: 'processing', to: 'failed', by: 'expire', when: 'the lease of a later attempt ran out' },
  { from: 'failed', to: 'pending', by: 'retry', when: 'an operator says try again' },
  { from: 'ignored', to: 'pending', by: 'retry', when: 'an operator says try again' },
  { from: 'failed', to: 'pending', by: 'replay', when: 'an operator orders a new run' },
  { from: 'ignored', to: 'pending', by: 'replay', when: 'an operator orders a new run' },
  { from: 'succeeded', to: 'pending', by: 'replay', when: 'an operator orders a new run, with force' },
  { from: 'pending', to: 'ignored', by: 'ignore', when: 'an operator says leave it' },
  { from: 'failed', to: 'ignored', by: 'ignore', when: 'an operator says leave it' },
]

export function canMove(from: State | 'new', by: Move, to?: State): boolean {
  return transitions.some((t) => t.from === from && t.by === by && (to === undefined || t.to === to))
}

/** Reasons hookonce itself gives for `ignored`. A handler's `ignore(reason)` may use any other words. */
export const ignoredReasons = ['unhandled', 'replayed_content', 'stale', 'operator'] as const
/** The reasons that put an event on the review list: somebody should look at it. */
export const reviewReasons: readonly string[] = ['unhandled', 'replayed_content']

/** Limits on what may enter the log. Lengths are in UTF-8 bytes. */
export const limits = {
  sourceBytes: 64,
  eventIdBytes: 255,
  eventTypeBytes: 255,
  referenceBytes: 255,
  reasonBytes: 1_000,
  errorBytes: 8_192,
  effectNameBytes: 255,
  effectResultBytes: 262_144,
  /** The hard ceiling of a stored body; intake's own limit is lower (1 MiB) and configurable up to this. */
  bodyBytes: 64 * 1024 * 1024,
  recordBatch: 1_000,
  claimBatch: 1_000,
  restoreBatch: 1_000,
  listPage: 500,
  leaseMs: 24 * 60 * 60 * 1_000,
  /** How far ahead the next attempt of an event may be put, by a retry or by handing it back. */
  delayMs: 366 * 24 * 60 * 60 * 1_000,
} as const

/** The name of an event: two values, never joined into one string. */
export interface EventKey {
  readonly source: string
  readonly eventId: string
}

/** One event as identified in a delivery, about to be recorded. */
export interface NewEvent {
  readonly eventId: string
  readonly eventType: string
  /** What the event is about (an order, a customer, a repository), for people who search. */
  readonly reference: string | null
  /** SHA-256 of what must stay the same when this id comes back; null where a sender changes it on each retry. */
  readonly contentHash: Uint8Array | null
  /** SHA-256 of what the sender signed, where that does not cover the id; null where it does. */
  readonly guardHash: Uint8Array | null
  /** Events of one source and lane are claimed one at a time, in seq order; left out = no order. */
  readonly lane?: string | null
}

/**
 * The id of an event whose own id was taken by other signed content and may have been taken by somebody else than the
 * sender. It is made of the content, so that a redelivery gets the same one.
 */
export function contestedId({
  eventId,
  contentHash,
  guardHash,
}: Pick<NewEvent, 'eventId' | 'contentHash' | 'guardHash'>): string {
  const content = contentHash ?? guardHash ?? new Uint8Array()
  const digest = sha256(Buffer.concat([Buffer.from(`${eventId}\0`), content]))
  const suffix = `~${Buffer.from(digest).toString('hex', 0, 8)}`
  let kept = Buffer.from(eventId)
    .subarray(0, limits.eventIdBytes - suffix.length)
    .toString()
  // A character that was cut in two is left out.
  if (kept.endsWith('\ufffd') && !eventId.startsWith(kept)) kept = kept.slice(0, -1)
  return `${kept}${suffix}`
}

/** Of an event, what is left of it after its row has been removed: 32 bytes over the id it came under and its content. */
export function tombstoneOf(eventId: string, contentHash: Uint8Array | null): Uint8Array {
  return sha256(Buffer.concat([Buffer.from(`${eventId}\0`), contentHash ?? new Uint8Array()]))
}

export const replayPolicies = ['flag', 'review', 'reject'] as const
export type ReplayPolicy = (typeof replayPolicies)[number]

/** One verified delivery, about to be recorded: the raw bytes once, and every event they carry. */
export interface NewDelivery {
  readonly source: string
  /** Allow-listed headers, lower-case names. Credentials and signatures never get here. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  readonly events: readonly NewEvent[]
  /**
   * What to do with an event whose `guardHash` is known under another id. `flag`: handle it and say whose content it
   * has (`EventRecord.sameAs`), because genuine senders repeat themselves. `review`: keep it, do not handle it.
   * `reject`: keep nothing.
   */
  readonly onReplayedContent: ReplayPolicy
  /** Milliseconds; only for deliveries that arrived earlier (a spool). Otherwise the store's clock decides. */
  readonly receivedAt?: number
}

/** What became of one event of a recorded delivery. A duplicate is a result, not an error. */
export type RecordVerdict =
  | {
      readonly status: 'recorded'
      readonly seq: number
      readonly state: 'pending' | 'ignored'
      /** The event whose signed content this one repeats, where there is one. */
      readonly sameAs?: string
      /** The id it has in the log, where its own was contested (`contestedId`). */
      readonly storedAs?: string
    }
  | {
      readonly status: 'duplicate'
      readonly seq: number
      readonly storedAs?: string
      readonly state: State
      /** True when nothing more will happen to it by itself: succeeded, ignored or a dead letter. */
      readonly final: boolean
      /** False = conflict: the id came back with other bytes. The first stays. */
      readonly equal: boolean
    }
  /** Retention has removed the event it repeats, and only its tombstone is left: nothing was written. */
  | { readonly status: 'retired' }
  /** Guarded content under a new id, and the policy is to reject: nothing was written for it. */
  | { readonly status: 'replayed' }
  /** Its delivery could not be stored (bad input, a store's own limit) and was left out whole; its neighbours were stored. */
  | { readonly status: 'refused'; readonly code: ErrorCode; readonly detail: string }

/** The right to write about an event: worthless once another claim has been made. */
export interface Lease {
  readonly seq: number
  readonly token: string
}

export interface ClaimOptions {
  /** Who claims; shown in the attempts. */
  readonly worker: string
  readonly limit: number
  readonly leaseMs: number
  /** Only these sources, each with a fair share of `limit`; all sources when left out. */
  readonly sources?: readonly string[]
  /** Only this event, even if its next attempt is not due yet. Not while another lease on it is alive. */
  readonly event?: EventKey
}

export interface ClaimedEvent extends EventKey {
  readonly lease: Lease
  readonly eventType: string
  readonly reference: string | null
  readonly receivedAt: number
  /** Counts every attempt of the event, over all runs; starts at 1. */
  readonly attempt: number
  /** Counts attempts since it was recorded or an operator last gave it a new start; starts at 1. */
  readonly tries: number
  /** Attempts in a row, up to this one, whose worker never reported an outcome; 0 when the last attempt ended properly. */
  readonly losses: number
  /** 1, and one more for each replay. */
  readonly run: number
  /** Which of the events of its delivery this is, from 0. */
  readonly part: number
  readonly headers: Readonly<Record<string, string>>
  /** Null when retention or erasure has removed the bytes, or when they cannot be read. */
  readonly body: Uint8Array | null
  /** Why the bytes that are stored cannot be read: a key is missing or wrong. */
  readonly unreadable?: HookonceError
}

export type Outcome =
  | { readonly kind: 'succeeded' }
  | { readonly kind: 'ignored'; readonly reason: string }
  /** `retryInMs` null = no next attempt: a dead letter. */
  | { readonly kind: 'failed'; readonly error: string; readonly retryInMs: number | null }

export interface Settlement {
  readonly lease: Lease
  readonly outcome: Outcome
  /** How long the handler ran; the store's clock says when it finished. */
  readonly durationMs: number
}

/** One row of the log as people see it. Instants are milliseconds since 1970. */
export interface EventRecord extends EventKey {
  readonly seq: number
  readonly eventType: string
  readonly reference: string | null
  readonly state: State
  /** Why it is `ignored`; the last error when `failed`; else null. */
  readonly reason: string | null
  readonly receivedAt: number
  readonly processedAt: number | null
  readonly attempts: number
  readonly run: number
  /** When it is due; null while it is processed and when it is final. Behind another of its reference: at the latest then. */
  readonly nextAttemptAt: number | null
  /** 1 + the duplicates seen. */
  readonly deliveries: number
  readonly conflicts: number
  readonly lastDeliveryAt: number
  readonly lastConflict: { readonly at: number; readonly hash: string } | null
  readonly contentHash: string | null
  /** The event whose signed content this one repeats, under an id that nobody signed; else null. */
  readonly sameAs: string | null
  /** The id it was delivered under, where that was contested: it is stored under one of its own (`contestedId`). */
  readonly contests: string | null
  readonly payloadKept: boolean
  /** Where its bytes are: in the log, taken by retention (an archive may have them), or erased for good. */
  readonly payload: 'kept' | 'removed' | 'erased'
}

export interface EventFilter {
  readonly source?: string
  readonly eventId?: string
  /** Exact, or a glob with `*`. */
  readonly type?: string
  readonly state?: State
  /** Only failed events: dead letters (true) or those with a next attempt (false). Beside another state, none. */
  readonly dead?: boolean
  readonly reason?: string
  readonly reference?: string
  /** Milliseconds, inclusive / exclusive. */
  readonly from?: number
  readonly to?: number
  readonly hasDuplicates?: boolean
  readonly hasConflict?: boolean
  /** Only those with a `sameAs` or a `contests` (true), or only those with neither (false). */
  readonly flagged?: boolean
}

export interface EventPage {
  readonly events: readonly EventRecord[]
  /**
   * Where the next page starts; null at the end. A page may be shorter than asked and still have a next one:
   * the store looks at a bounded number of rows per call.
   */
  readonly next: string | null
  /** True when the search stopped at that bound before the page was full: what matches may lie beyond `next`. */
  readonly cut?: true
}

export interface SourceStats {
  readonly source: string
  readonly recorded: number
  readonly pending: number
  readonly processing: number
  /** Failed with a next attempt. */
  readonly retrying: number
  readonly succeeded: number
  readonly ignored: number
  readonly dead: number
  /** When the oldest event that waits for a worker became due; null when none waits. */
  readonly oldestDueAt: number | null
  /** The backlog is larger than a store counts: pending, retrying and succeeded are estimates. Left out when exact. */
  readonly estimated?: true
}

/** What an operator orders. Each item is judged on its own. */
export interface Order {
  readonly verb: 'retry' | 'replay' | 'ignore'
  readonly events: readonly EventKey[]
  readonly actor: string
  readonly reason: string
  /** Needed to replay an event that has succeeded. */
  readonly force?: boolean
  /** Say what would happen, change nothing. */
  readonly dryRun?: boolean
}

export type OrderResult =
  | { readonly done: true; readonly from: State; readonly to: State }
  | {
      readonly done: false
      readonly code: 'EVENT_NOT_FOUND' | 'EVENT_PROCESSING' | 'MOVE_FORBIDDEN' | 'FORCE_NEEDED'
    }

/** Where a reader of the log has come to: everything up to here has been seen. 0 = the beginning. */
export type Position = number

export interface TailOptions {
  /** Only what entered the log after this position. */
  readonly after: Position
  readonly limit: number
  readonly source?: string
}

/** Events in the order they entered the log. Never skips one whose commit came late. */
export interface TailPage {
  readonly events: readonly EventRecord[]
  /**
   * Give this as `after` next time. May be beyond the last event, also on a page with none: nothing between them will
   * ever appear. Unchanged = nothing new.
   */
  readonly position: Position
  /** True when retention has removed events after the position given: some were missed. */
  readonly gap: boolean
}
