/** A long random walk of a few events, each step foretold by a model of the state machine. */
import assert from 'node:assert/strict'
import type { EventKey, Lease, Outcome, State } from '../../model.js'
import type { CompleteStore } from '../../store.js'
import type { ContractCase } from './harness.js'
import { statsAgree } from './stats.js'
import {
  claim,
  claimOne,
  dead,
  failedFor,
  get,
  ignored,
  LEASE_MS,
  operate,
  pick,
  random,
  range,
  recordOne,
  settle,
  succeeded,
} from './support.js'

interface Model {
  readonly of: EventKey
  state: State
  attempts: number
  tries: number
  run: number
  final: boolean
  lease: Lease | null
  /** Leases that must be worthless. */
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
  if (move === 'order') return orderStep(store, model, pick(next, ['retry', 'replay', 'ignore'] as const))
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
  const claimed = await claimOne(store, model.of)
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

async function orderStep(
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
  name: `events on a random walk are at each step where the model says (walk ${seed + 1})`,
  async run({ open, advance }) {
    const store = await open()
    const next = random(1_000 + seed)
    const models: Model[] = []
    for (const i of range(5)) {
      const of = await recordOne(store, `e${i}`)
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
        `state, attempts and run of ${model.of.eventId}`,
      )
      if (model.state === 'failed') assert.equal(found.nextAttemptAt === null, model.final)
    }
    await statsAgree(store)
  },
}))
