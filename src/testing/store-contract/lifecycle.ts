/**
 * The state machine: every move is tried in every situation and compared with `transitions`, and random walks are compared
 * with a model.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import {
  type ActionResult,
  canMove,
  type EventKey,
  type Lease,
  type Move,
  type Outcome,
  type State,
  transitions,
} from '../../model.js'
import type { CompleteStore } from '../../store.js'
import { type Situation, situations } from './situations.js'
import { statsAgree } from './stats.js'
import {
  type CaseHarness,
  type ContractCase,
  claim,
  claimEvent,
  dead,
  delivery,
  event,
  failedFor,
  get,
  ignored,
  key,
  LEASE_MS,
  operate,
  pick,
  random,
  range,
  record,
  recordEvent,
  recordLeased,
  settle,
  sha256,
  snapshot,
  succeeded,
} from './support.js'

/** A move that can be tried on an event; `act` returns whether the store carried it out. */
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

function refusal(state: State, verb: string): Extract<ActionResult, { done: false }>['code'] {
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
  // Each trial has its own source, so that a claim of due events finds no others.
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
      await recordLeased(store, key('leased'))
      seen.add(`new record ${(await get(store, key('leased'))).state}`)
      assert.deepEqual([...seen].sort(), transitions.map((t) => `${t.from} ${t.by} ${t.to}`).sort())
    },
  },
]

interface Model {
  readonly of: EventKey
  state: State
  attempts: number
  tries: number
  run: number
  final: boolean
  lease: Lease | null
  readonly old: Lease[]
}

function endLease(model: Model): void {
  if (model.lease) model.old.push(model.lease)
  model.lease = null
}

async function step(store: CompleteStore, model: Model, next: () => number): Promise<void> {
  const move = pick(next, [
    'claim',
    'claim',
    'settle',
    'settle',
    'release',
    'extend',
    'order',
    'zombie',
  ] as const)
  if (move === 'claim') return claimStep(store, model)
  if (move === 'order') return actionStep(store, model, pick(next, ['retry', 'replay', 'ignore'] as const))
  if (move === 'zombie') {
    const old = model.old.length > 0 ? pick(next, model.old) : null
    if (old) assert.equal(await settle(store, old, pick(next, [succeeded, dead])), false)
    return
  }
  if (!model.lease) return
  if (move === 'extend') assert.deepEqual(await store.extend([model.lease], LEASE_MS), [true])
  else if (move === 'release') await releaseStep(store, model, model.lease)
  else await settleStep(store, model, model.lease, pick(next, [succeeded, ignored, dead, failedFor(0)]))
}

async function claimStep(store: CompleteStore, model: Model): Promise<void> {
  if (model.lease || model.final) {
    assert.deepEqual(await claim(store, { event: model.of, limit: 1 }), [])
    return
  }
  const claimed = await claimEvent(store, model.of)
  model.state = 'processing'
  model.attempts++
  model.tries++
  model.lease = claimed.lease
  assert.deepEqual(
    [claimed.attempt, claimed.tries, claimed.run],
    [model.attempts, model.tries, model.run],
    'attempt, tries and run of a claim',
  )
}

async function settleStep(store: CompleteStore, model: Model, lease: Lease, outcome: Outcome): Promise<void> {
  assert.equal(await settle(store, lease, outcome), true)
  model.state = outcome.kind
  model.final = outcome.kind !== 'failed' || outcome.retryInMs === null
  endLease(model)
}

async function releaseStep(store: CompleteStore, model: Model, lease: Lease): Promise<void> {
  assert.deepEqual(await store.release([lease]), [true])
  model.attempts--
  model.tries--
  model.state = model.tries === 0 ? 'pending' : 'failed'
  endLease(model)
}

async function actionStep(
  store: CompleteStore,
  model: Model,
  verb: 'retry' | 'replay' | 'ignore',
): Promise<void> {
  const from: readonly State[] = {
    retry: ['failed', 'ignored'] as const,
    replay: ['failed', 'ignored', 'succeeded'] as const,
    ignore: ['pending', 'failed'] as const,
  }[verb]
  const allowed = from.includes(model.state)
  assert.equal(
    (await operate(store, verb, model.of, { force: true })).done,
    allowed,
    `${verb} ${model.state}`,
  )
  if (!allowed) return
  if (verb === 'replay') model.run++
  model.state = verb === 'ignore' ? 'ignored' : 'pending'
  model.final = verb === 'ignore'
  if (!model.final) model.tries = 0
}

export const walkCases: readonly ContractCase[] = range(4).map((seed) => ({
  name: `events on a random walk are in the state of the model after each step (walk ${seed + 1})`,
  async run({ open, advance }) {
    const store = await open()
    const next = random(1_000 + seed)
    const models: Model[] = []
    for (const i of range(5)) {
      const of = await recordEvent(store, `e${i}`)
      models.push({ of, state: 'pending', attempts: 0, tries: 0, run: 1, final: false, lease: null, old: [] })
    }
    for (const _ of range(120)) {
      if (next() < 0.06) {
        await advance(LEASE_MS + 1)
        for (const model of models) {
          if (model.lease) model.state = model.tries === 1 ? 'pending' : 'failed'
          endLease(model)
        }
      }
      const model = pick(next, models)
      await step(store, model, next)
      const found = await get(store, model.of)
      assert.deepEqual(
        [found.state, found.attempts, found.run],
        [model.state, model.attempts, model.run],
        `state, attempts and run of ${model.of.id}`,
      )
      if (model.state === 'failed') assert.equal(found.nextAttemptAt === null, model.final)
    }
    await statsAgree(store)
  },
}))
