/** The state machine, whole: in every situation each move is tried, and `transitions` says what must come of it. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { EventKey, Lease, Move, OrderResult, State } from '../../model.js'
import { canMove, transitions } from '../../model.js'
import type { CompleteStore } from '../../store.js'
import type { CaseHarness, ContractCase } from './harness.js'
import { type Situation, situations } from './situations.js'
import {
  claim,
  dead,
  delivery,
  event,
  failedFor,
  get,
  ignored,
  key,
  LEASE_MS,
  operate,
  record,
  settle,
  sha256,
  snapshot,
  succeeded,
} from './support.js'

/** Something that can be tried on an event; `act` answers whether the store says it happened. */
interface Trial {
  readonly name: string
  readonly by: Move
  readonly to?: State
  allowed(situation: Situation): boolean
  act(
    store: CompleteStore,
    harness: CaseHarness,
    of: EventKey,
    lease: Lease,
    situation: Situation,
  ): Promise<boolean>
}

const table =
  (by: Move, to?: State) =>
  ({ state }: Situation): boolean =>
    canMove(state, by, to)

function order(verb: 'retry' | 'replay' | 'ignore', force: boolean): Trial {
  return {
    name: force ? `${verb} with force` : verb,
    by: verb,
    allowed: (situation) =>
      table(verb)(situation) && (force || verb !== 'replay' || situation.state !== 'succeeded'),
    async act(store, _, of, __, situation) {
      const result = await operate(store, verb, of, force ? { force } : {})
      if (result.done) assert.equal(result.from, situation.state)
      else assert.equal(result.code, refusal(situation.state, verb))
      return result.done
    },
  }
}

function refusal(state: State, verb: string): Extract<OrderResult, { done: false }>['code'] {
  if (state === 'processing') return 'EVENT_PROCESSING'
  return state === 'succeeded' && verb === 'replay' ? 'FORCE_NEEDED' : 'MOVE_FORBIDDEN'
}

const trials: readonly Trial[] = [
  {
    name: 'claim what is due',
    by: 'claim',
    to: 'processing',
    allowed: (situation) => table('claim')(situation) && situation.due,
    act: async (store, _, of) => (await claim(store, { sources: [of.source] })).length > 0,
  },
  {
    name: 'claim this event',
    by: 'claim',
    to: 'processing',
    allowed: (situation) => table('claim')(situation) && situation.claimable,
    act: async (store, _, of) => (await claim(store, { event: of, limit: 1 })).length > 0,
  },
  ...[succeeded, ignored, failedFor(1_000), failedFor(0), dead].map(
    (outcome): Trial => ({
      name: `settle ${JSON.stringify(outcome)}`,
      by: 'settle',
      to: outcome.kind,
      allowed: table('settle', outcome.kind),
      act: (store, _, __, lease) => settle(store, lease, outcome),
    }),
  ),
  {
    name: 'release',
    by: 'release',
    allowed: table('release'),
    act: async (store, _, __, lease) => (await store.release([lease]))[0] === true,
  },
  {
    name: 'let time pass',
    by: 'expire',
    allowed: table('expire'),
    async act(store, { advance }, of, _, situation) {
      await advance(LEASE_MS + 1)
      return (await get(store, of)).state !== situation.state
    },
  },
  order('retry', false),
  order('replay', false),
  order('replay', true),
  order('ignore', false),
]

async function begin(harness: CaseHarness, store: CompleteStore, situation: Situation, n: number) {
  // A source of its own for each trial: claims of what is due see nothing else.
  const of = key('evt', `s${n}`)
  const last = await situation.drive(store, harness, of)
  const found = await get(store, of)
  assert.equal(found.state, situation.state, `an event ${situation.name} is ${situation.state}`)
  return { of, lease: last ?? { seq: found.seq, token: randomUUID() } }
}

export const lifecycleCases: readonly ContractCase[] = [
  ...situations.map((situation) => ({
    name: `an event ${situation.name} is ${situation.state}: it moves as the table says and in no other way`,
    async run(harness: CaseHarness) {
      const store = await harness.open()
      for (const [n, trial] of trials.entries()) {
        const { of, lease } = await begin(harness, store, situation, n)
        const before = await snapshot(store, of)
        const happened = await trial.act(store, harness, of, lease, situation)
        const says = `${trial.name} on an event ${situation.name}`
        assert.equal(happened, trial.allowed(situation), says)
        const after = await snapshot(store, of)
        if (happened) {
          const to = after.event?.state
          assert.ok(to && canMove(situation.state, trial.by, to), `${says} led to ${to}`)
          if (trial.to) assert.equal(to, trial.to, says)
        } else if (trial.by === 'expire') {
          assert.equal(after.event?.state, situation.state, says)
        } else {
          assert.deepEqual(after, before, `${says} changed something`)
        }
      }
    },
  })),
  {
    name: 'every transition of the table happens',
    async run(harness) {
      const store = await harness.open()
      const seen = new Set<string>()
      let n = 0
      for (const situation of situations) {
        for (const trial of trials.filter((t) => t.allowed(situation))) {
          const { of, lease } = await begin(harness, store, situation, n++)
          await trial.act(store, harness, of, lease, situation)
          seen.add(`${situation.state} ${trial.by} ${(await get(store, of)).state}`)
        }
      }
      const guard = { guardHash: sha256('bytes') }
      for (const id of ['first', 'second']) {
        const [verdict] = await record(store, delivery(event(id, guard)))
        if (verdict?.status === 'recorded') seen.add(`new record ${verdict.state}`)
      }
      assert.deepEqual([...seen].sort(), transitions.map((t) => `${t.from} ${t.by} ${t.to}`).sort())
    },
  },
]
