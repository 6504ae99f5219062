/** What can be done to a store, as plain values that fast-check makes and shrinks. `run.ts` carries them out. */

import fc from 'fast-check'
import type { EventFilter } from 'hookonce'
import type { Action, ContentGuard, Outcome } from 'hookonce/testing/contracts'

const MINUTE = 60_000

/** Which of two stores on the same log. */
export type Via = 0 | 1

export interface PostedEvent {
  readonly id: number
  /** Null = no content hash. */
  readonly content: number | null
  readonly guard: number | null
  readonly lane: number | null
  readonly type: number
  readonly reference: number | null
}

export interface PostedDelivery {
  readonly source: number
  readonly events: readonly PostedEvent[]
  readonly policy: ContentGuard
  /** Null = received now; else so many minutes ago. */
  readonly age: number | null
  readonly body: Uint8Array
}

/** One of the leases ever given out, counted from the newest, and perhaps with a token that is not its own. */
export interface LeasePick {
  readonly back: number
  readonly forged: 'no' | 'of another' | 'made up' | 'garbage'
}

export interface SettlePick extends LeasePick {
  readonly outcome: Outcome
}

export interface EffectPick extends LeasePick {
  readonly step: 'start' | 'finish' | 'drop'
  readonly name: string
  readonly result: string
}

export interface ListPick
  extends Pick<EventFilter, 'state' | 'dead' | 'hasDuplicates' | 'hasConflict' | 'flagged'> {
  /** Null = not by source but by a reference or a type that only this run uses. */
  readonly source: number | null
  readonly id?: number
  readonly type?: number | '*'
  readonly reference?: number
  readonly reason?: string
  /** Minutes ago. */
  readonly from?: number
  readonly to?: number
  readonly limit: number
}

export type Command =
  | { readonly do: 'post'; readonly via: Via; readonly deliveries: readonly PostedDelivery[] }
  | {
      readonly do: 'claim'
      readonly via: Via
      /** Null = whatever is due anywhere. */
      readonly sources: readonly number[] | null
      readonly limit: number
      readonly leaseMs: number
    }
  | { readonly do: 'claim one'; readonly via: Via; readonly event: number; readonly leaseMs: number }
  | { readonly do: 'attempt'; readonly via: Via; readonly event: number; readonly outcome: Outcome }
  | { readonly do: 'settle'; readonly via: Via; readonly picks: readonly SettlePick[] }
  | {
      readonly do: 'extend'
      readonly via: Via
      readonly picks: readonly LeasePick[]
      readonly leaseMs: number
    }
  | {
      readonly do: 'release'
      readonly via: Via
      readonly picks: readonly LeasePick[]
      readonly delayMs: number
    }
  | { readonly do: 'effect'; readonly via: Via; readonly effect: EffectPick }
  | {
      readonly do: 'transaction'
      readonly via: Via
      readonly picks: readonly SettlePick[]
      readonly effects: readonly EffectPick[]
      readonly watermark: { readonly key: number; readonly value: number } | null
      /** The clock jumps while it is open. */
      readonly stallMs: number
      readonly end: 'commit' | 'finish' | 'rollback'
    }
  | {
      readonly do: 'operate'
      readonly via: Via
      readonly verb: Action['verb']
      readonly events: readonly number[]
      readonly force: boolean
      readonly dryRun: boolean
      /** To ignore: keep the first content, against the oldest other one where it is named. */
      readonly conflict: boolean | 'named'
    }
  | {
      readonly do: 'prune'
      readonly via: Via
      readonly source: number
      readonly payloadsAge: number | null
      readonly eventsAge: number | null
      /** Null = all of them, in as many calls as it takes. */
      readonly limit: number | null
      readonly dryRun: boolean
    }
  /** A worker takes an event, stands still until its lease is over and somebody else may have it, and comes back. */
  | {
      readonly do: 'freeze'
      readonly via: Via
      readonly event: number
      readonly takenOver: boolean
      readonly tries: 'settle' | 'extend' | 'release' | 'effect' | 'transaction'
      readonly outcome: Outcome
    }
  | { readonly do: 'list'; readonly via: Via; readonly filter: ListPick }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'reopen'; readonly via: Via }
  | { readonly do: 'flush' }

const via = fc.constantFrom<Via>(0, 1)
const source = fc.nat(1)
/** The model's clock moves in whole minutes and everything else ends half a minute off: nothing is ever close. */
const leaseMs = fc.constantFrom(0.5 * MINUTE, 1.5 * MINUTE, 90.5 * MINUTE)
const delayMs = fc.constantFrom(0, 0.5 * MINUTE, 10.5 * MINUTE)
const waitMs = fc.constantFrom(MINUTE, 2 * MINUTE, 15 * MINUTE, 120 * MINUTE)
const age = fc.constantFrom(0, 0, 0, 1, 30, 200)
const eventPick = fc.nat(7)
const content = fc.constantFrom(0, 0, 0, 1, 2, null)
const guard = fc.constantFrom(null, null, null, null, 0, 1)
const lane = fc.constantFrom(null, null, 0, 0, 1)
const reference = fc.constantFrom(null, 0, 1)

const error = fc.constantFrom('try later', 'boom\nat line 1')
const failed = fc.constant('failed' as const)
const outcome: fc.Arbitrary<Outcome> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Outcome>({ kind: 'succeeded' }) },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom('unhandled', 'not for us', 'replayed_content')
      .map((reason): Outcome => ({ kind: 'ignored', reason })),
  },
  { weight: 2, arbitrary: fc.record({ kind: failed, error, retryInMs: delayMs }) },
  { weight: 2, arbitrary: fc.record({ kind: failed, error, retryInMs: fc.constant(null) }) },
)

const posted = fc.record<PostedEvent>({
  id: fc.nat(4),
  content,
  guard,
  lane,
  type: fc.nat(2),
  reference,
})
const delivery = fc.record<PostedDelivery>({
  source,
  events: fc.oneof(
    { weight: 3, arbitrary: fc.array(posted, { minLength: 1, maxLength: 1 }) },
    { weight: 1, arbitrary: fc.array(posted, { minLength: 2, maxLength: 3, size: 'max' }) },
  ),
  policy: fc.constantFrom('accept' as const, 'review' as const, 'reject' as const),
  age: fc.constantFrom(null, null, null, 1, 45, 600),
  body: fc.uint8Array({ maxLength: 24, size: 'max' }),
})

const lease = {
  back: fc.oneof({ weight: 3, arbitrary: fc.nat(1) }, { weight: 1, arbitrary: fc.nat(9) }),
  forged: fc.constantFrom<LeasePick['forged'][]>(
    'no',
    'no',
    'no',
    'no',
    'no',
    'no',
    'of another',
    'made up',
    'garbage',
  ),
}
const leasePick = fc.record<LeasePick>(lease)
const settlePick = fc.record<SettlePick>({ ...lease, outcome })
const effectPick = fc.record<EffectPick>({
  ...lease,
  step: fc.constantFrom('start', 'finish', 'drop'),
  name: fc.constantFrom('mail', 'bill'),
  result: fc.constantFrom('', 'sent', '{"id":1}'),
})

const listPick = fc.record<ListPick, 'source' | 'limit'>(
  {
    source: fc.constantFrom(0, 1, null),
    limit: fc.constantFrom(1, 2, 3, 50),
    id: fc.nat(4),
    type: fc.constantFrom<(number | '*')[]>(0, 1, 2, '*'),
    reference: fc.nat(1),
    reason: fc.constantFrom('unhandled', 'operator', 'try later', 'replayed_content'),
    state: fc.constantFrom('pending', 'processing', 'succeeded', 'ignored', 'failed'),
    dead: fc.boolean(),
    from: age,
    to: age,
    hasDuplicates: fc.boolean(),
    hasConflict: fc.boolean(),
    flagged: fc.boolean(),
  },
  { requiredKeys: ['source', 'limit'] },
)

const one = <C extends Command>(shape: { [K in keyof C]: fc.Arbitrary<C[K]> }): fc.Arbitrary<Command> =>
  fc.record(shape) as unknown as fc.Arbitrary<Command>
const named = <D extends Command['do']>(name: D) => fc.constant(name)
type Of<D extends Command['do']> = Extract<Command, { do: D }>

const post = one<Of<'post'>>({
  do: named('post'),
  via,
  deliveries: fc.array(delivery, { minLength: 1, maxLength: 4, size: 'max' }),
})

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 6, arbitrary: post },
  {
    weight: 5,
    arbitrary: one<Of<'claim'>>({
      do: named('claim'),
      via,
      sources: fc.constantFrom(null, [0], [1], [0, 1], [1, 0]),
      limit: fc.constantFrom(1, 2, 10),
      leaseMs,
    }),
  },
  {
    weight: 4,
    arbitrary: one<Of<'claim one'>>({ do: named('claim one'), via, event: eventPick, leaseMs }),
  },
  { weight: 6, arbitrary: one<Of<'attempt'>>({ do: named('attempt'), via, event: eventPick, outcome }) },
  {
    weight: 5,
    arbitrary: one<Of<'settle'>>({
      do: named('settle'),
      via,
      picks: fc.array(settlePick, { minLength: 1, maxLength: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: one<Of<'extend'>>({
      do: named('extend'),
      via,
      picks: fc.array(leasePick, { minLength: 1, maxLength: 3 }),
      leaseMs,
    }),
  },
  {
    weight: 3,
    arbitrary: one<Of<'release'>>({
      do: named('release'),
      via,
      picks: fc.array(leasePick, { minLength: 1, maxLength: 2 }),
      delayMs,
    }),
  },
  { weight: 3, arbitrary: one<Of<'effect'>>({ do: named('effect'), via, effect: effectPick }) },
  {
    weight: 4,
    arbitrary: one<Of<'transaction'>>({
      do: named('transaction'),
      via,
      picks: fc.array(settlePick, { maxLength: 2, size: 'max' }),
      effects: fc.array(effectPick, { maxLength: 2 }),
      watermark: fc.option(fc.record({ key: fc.nat(1), value: fc.integer({ min: -2, max: 5 }) })),
      stallMs: fc.constantFrom(0, 0, 0, 0, MINUTE),
      end: fc.constantFrom('commit', 'finish', 'rollback'),
    }),
  },
  {
    weight: 6,
    arbitrary: one<Of<'operate'>>({
      do: named('operate'),
      via,
      verb: fc.constantFrom('retry', 'replay', 'replay', 'ignore'),
      events: fc.array(eventPick, { minLength: 1, maxLength: 3 }),
      force: fc.boolean(),
      dryRun: fc.constantFrom(false, false, false, false, true),
      conflict: fc.constantFrom(false),
    }),
  },
  {
    weight: 2,
    arbitrary: one<Of<'operate'>>({
      do: named('operate'),
      via,
      verb: fc.constantFrom('ignore'),
      events: fc.array(eventPick, { minLength: 1, maxLength: 3 }),
      force: fc.constantFrom(false),
      dryRun: fc.constantFrom(false, false, false, false, true),
      conflict: fc.constantFrom<true | 'named'>(true, 'named'),
    }),
  },
  {
    weight: 3,
    arbitrary: one<Of<'prune'>>({
      do: named('prune'),
      via,
      source,
      payloadsAge: fc.option(age, { freq: 3 }),
      eventsAge: fc.option(age, { freq: 4 }),
      limit: fc.constantFrom(null, null, null, 1, 2),
      dryRun: fc.constantFrom(false, false, false, false, true),
    }),
  },
  {
    weight: 3,
    arbitrary: one<Of<'freeze'>>({
      do: named('freeze'),
      via,
      event: eventPick,
      takenOver: fc.boolean(),
      tries: fc.constantFrom('settle', 'extend', 'release', 'effect', 'transaction'),
      outcome,
    }),
  },
  { weight: 2, arbitrary: one<Of<'list'>>({ do: named('list'), via, filter: listPick }) },
  { weight: 5, arbitrary: one<Of<'wait'>>({ do: named('wait'), ms: waitMs }) },
  { weight: 1, arbitrary: one<Of<'reopen'>>({ do: named('reopen'), via }) },
  { weight: 1, arbitrary: fc.constant<Command>({ do: 'flush' }) },
)

/** Unbiased, else most lists would be short; and something is there to begin with. */
export const commands = fc.noBias(
  fc
    .tuple(post, fc.array(command, { maxLength: 16, size: 'max' }))
    .map(([first, rest]): Command[] => [first, ...rest]),
)
