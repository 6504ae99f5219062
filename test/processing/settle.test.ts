/** settle on a store that does what the test says: what is written, rolled back, split or given back. */
import { HookonceError, silentLog } from 'hookonce'
import type { ClaimedEvent, Outcome, Settlement } from 'hookonce/testing/contracts'
import { expect, test } from 'vitest'
import { settleBatch } from '../../dist/processing/batch.js'
import { Session } from '../../dist/processing/session.js'
import { OutcomeWriter, settle } from '../../dist/processing/settle.js'

const turn = () => new Promise((resolve) => setImmediate(resolve))
const done: Outcome = { kind: 'succeeded' }

const claimed = (eventId: string): ClaimedEvent =>
  ({
    source: 'shop',
    id: eventId,
    type: 't',
    tries: 1,
    attempt: 3,
    lease: { seq: 1, token: eventId },
  }) as ClaimedEvent
const prepared = (eventId: string, result: object = done, watermark: object | null = null) => ({
  claimed: claimed(eventId),
  event: null,
  watermark,
  result,
  durationMs: 1,
})

interface Given {
  ids?: string[]
  usesTx?: boolean
  /** When the transaction has begun; at once when left out. */
  begins?: Promise<never>
  finish?: () => boolean | Promise<boolean>
  rollback?: () => Promise<unknown>
  advance?: (key: string) => boolean
  settled?: (token: string) => boolean
  released?: boolean[]
  attempts?: readonly object[]
  get?: object | null
}

function make({ ids = ['a'], usesTx = true, ...given }: Given) {
  const steps: string[] = []
  const transaction = {
    keys: {
      async advance({ key }: { key: string }) {
        steps.push(`advance ${key}`)
        return given.advance?.(key) ?? true
      },
    },
    async finish(settlements: Settlement[]) {
      steps.push(
        `finish ${settlements.map(({ lease, outcome }) => `${lease.token} ${outcome.kind}`).join(', ')}`,
      )
      return (await given.finish?.()) ?? true
    },
    rollback: given.rollback ?? (async () => void steps.push('rollback')),
  }
  const store = {
    async release(leases: { token: string }[], delayMs: number) {
      steps.push(`release ${leases.map(({ token }) => token).join(' ')} ${delayMs}`)
      return given.released ?? leases.map(() => true)
    },
    transaction: () => given.begins ?? Promise.resolve(transaction),
    get: async () => given.get ?? null,
    ...(given.attempts && { inspect: { attempts: async () => given.attempts } }),
  }
  const session = new Session(store as never, ids.map(claimed), silentLog)
  const begun = usesTx ? session.begin() : null
  const deps = {
    store,
    log: silentLog,
    outcomes: {
      async write({ lease, outcome }: Settlement) {
        steps.push(`settle ${lease.token} ${outcome.kind}`)
        return given.settled?.(lease.token) ?? true
      },
    },
    registry: { retryOf: () => ({ maxAttempts: 1, firstDelay: 1, maxDelay: 1 }) },
    redact: { error: () => 'failed', reason: (text: string) => text, place: () => '' },
  }
  const run = async (begunEvents: object[], failed: object | null = null, leavePlace?: () => void) => {
    if (!given.begins) await begun
    const [first] = begunEvents
    const rest = [failed as never, leavePlace] as const
    return ids.length > 1
      ? settleBatch(deps as never, session as never, begunEvents as never, ...rest)
      : [await settle(deps as never, session as never, first as never, ...rest)]
  }
  return { run, steps }
}

test('the outcomes go into the transaction of the handler, and the place is not free before its commit', async () => {
  const { run, steps } = make({ ids: ['a', 'b'] })
  let handled = 0
  const results = await run(
    [prepared('a'), prepared('b', { kind: 'ignored', reason: 'x' })],
    null,
    () => handled++,
  )
  expect(results).toEqual([done, { kind: 'ignored', reason: 'x' }])
  expect(steps).toEqual(['finish a succeeded, b ignored'])
  expect(handled).toBe(0)
})

test('without a transaction the outcomes are written, and a lost lease is the result of its event alone', async () => {
  const { run, steps } = make({ ids: ['a', 'b'], usesTx: false, settled: (token) => token !== 'b' })
  let handled = 0
  expect(await run([prepared('a'), prepared('b')], null, () => handled++)).toEqual([done, { kind: 'lost' }])
  expect(steps).toEqual(['settle a succeeded', 'settle b succeeded'])
  expect(handled).toBe(1)
})

test('watermarks of events that succeeded are moved in the order of their keys, in a transaction', async () => {
  const { run, steps } = make({ ids: ['a', 'b', 'c', 'd'], usesTx: false })
  const events = [
    prepared('a', done, { key: 'k3' }),
    prepared('b', { kind: 'ignored', reason: 'x' }, { key: 'k9' }),
    prepared('c', done, { key: 'k1' }),
    prepared('d', done, { key: 'k2' }),
  ]
  expect(await run(events)).toHaveLength(4)
  expect(steps).toEqual([
    'advance k1',
    'advance k2',
    'advance k3',
    'finish a succeeded, b ignored, c succeeded, d succeeded',
  ])
})

test.each([['k1 k2 k3'], ['k2 k1 k3'], ['k3 k2 k1'], ['k2 k3 k1']])(
  'watermarks of a group with the keys %s are moved in one order',
  async (keys) => {
    const { run, steps } = make({ ids: ['a', 'b', 'c'] })
    await run(keys.split(' ').map((key, i) => prepared('abc'[i]!, done, { key })))
    expect(steps.slice(0, 3)).toEqual(['advance k1', 'advance k2', 'advance k3'])
  },
)

test('an event that was overtaken since it began is stale, and its writes are rolled back', async () => {
  const { run, steps } = make({ advance: () => false })
  expect(await run([prepared('a', done, { key: 'k' })])).toEqual([{ kind: 'ignored', reason: 'stale' }])
  expect(steps).toEqual(['advance k', 'rollback', 'settle a ignored'])
})

test('a lost lease at the commit rolls back, and nothing else is written', async () => {
  const { run, steps } = make({ finish: () => false })
  expect(await run([prepared('a')])).toEqual([{ kind: 'lost' }])
  expect(steps).toEqual(['finish a succeeded', 'rollback'])
})

test('a group that fails is rolled back and split; nothing of it is written', async () => {
  for (const failed of [
    { kind: 'failed', error: 'x', retryInMs: 1 },
    { kind: 'lost' },
    { kind: 'postponed', delayMs: 5 },
  ]) {
    const { run, steps } = make({ ids: ['a', 'b'] })
    expect(await run([prepared('a')], failed)).toBeNull()
    expect(steps).toEqual(['rollback'])
  }
})

test('a group that fails because of the process or the store is released as a whole', async () => {
  const stopping = make({ ids: ['a', 'b'], released: [true, false] })
  expect(await stopping.run([prepared('a')], { kind: 'handed_back' })).toEqual([
    { kind: 'handed_back' },
    { kind: 'lost' },
  ])
  expect(stopping.steps).toEqual(['rollback', 'release a b 0'])
  const busy = { kind: 'postponed', delayMs: 700, code: 'POOL_EXHAUSTED' }
  const { run, steps } = make({ ids: ['a', 'b'] })
  expect(await run([prepared('a')], busy)).toEqual([busy, busy])
  expect(steps).toEqual(['rollback', 'release a b 700'])
})

test('an event alone that failed is rolled back, and its failure is written; a lost one is left alone', async () => {
  const failure = { kind: 'failed', error: 'x', retryInMs: 1 } as const
  const failed = make({})
  expect(await failed.run([prepared('a')], failure)).toEqual([failure])
  expect(failed.steps).toEqual(['rollback', 'settle a failed'])
  const without = make({ usesTx: false })
  expect(await without.run([prepared('a')], failure)).toEqual([failure])
  expect(without.steps).toEqual(['settle a failed'])
  const lost = make({})
  expect(await lost.run([prepared('a')], { kind: 'lost' })).toEqual([{ kind: 'lost' }])
  expect(lost.steps).toEqual(['rollback'])
})

test('an event with a result that is no outcome does not commit its neighbours', async () => {
  const { run, steps } = make({ ids: ['a', 'b'] })
  expect(await run([prepared('a'), prepared('b', { kind: 'lost' })])).toBeNull()
  expect(steps).toEqual(['rollback'])
})

test('a transaction that still waits to begin is not waited for', async () => {
  const { run } = make({ begins: new Promise(() => {}) })
  let ended = false
  void run([prepared('a')], { kind: 'lost' }).then(() => {
    ended = true
  })
  await turn()
  expect(ended).toBe(true)
})

test('a rollback that has begun is waited for before the failure is written, and may fail', async () => {
  let rolledBack = (_: Error) => {}
  const rollback = () => new Promise((_, reject) => (rolledBack = reject))
  const { run, steps } = make({ rollback })
  const settled = run([prepared('a')], { kind: 'failed', error: 'x', retryInMs: 1 })
  await turn()
  expect(steps).toEqual([])
  rolledBack(new Error('connection closed'))
  await settled
  expect(steps).toEqual(['settle a failed'])
})

test('an outcome that no store accepts becomes a dead letter', async () => {
  const { run, steps } = make({ usesTx: false })
  const [result] = (await run([prepared('a', { kind: 'failed', error: 'x', retryInMs: Number.NaN })]))!
  expect(result).toMatchObject({ kind: 'failed', retryInMs: null })
  expect(steps).toEqual(['settle a failed'])
})

test('a commit that failed is a failure of the event', async () => {
  const { run } = make({ finish: () => Promise.reject(new Error('constraint')), attempts: [] })
  expect(await run([prepared('a')])).toMatchObject([{ kind: 'failed', error: 'failed' }])
})

const unknown = () => Promise.reject(new HookonceError('COMMIT_UNKNOWN', {} as never))
test.each([
  ['its attempt is in the log', { attempts: [{ attempt: 3, outcome: 'succeeded' }] }, true],
  ['only an earlier attempt is', { attempts: [{ attempt: 2, outcome: 'succeeded' }] }, false],
  ['the attempt has another outcome', { attempts: [{ attempt: 3, outcome: 'lost' }] }, false],
  ['no attempt is', { attempts: [] }, false],
  ['the event has its state', { get: { state: 'succeeded', attempts: 3 } }, true],
  ['the event has its state of an earlier attempt', { get: { state: 'succeeded', attempts: 2 } }, false],
  ['the event has another state', { get: { state: 'processing', attempts: 3 } }, false],
  ['the event is not there', { get: null }, false],
] as const)(
  'a commit without an answer counts as made exactly when the log has it: %s',
  async (_, given, isMade) => {
    const { run } = make({ finish: unknown, ...given })
    const [result] = (await run([prepared('a')]))!
    expect(result!.kind).toBe(isMade ? 'succeeded' : 'postponed')
  },
)

test('a failed commit is not looked up', async () => {
  const { run } = make({
    finish: () => Promise.reject(new Error('constraint')),
    attempts: [{ attempt: 3, outcome: 'succeeded' }],
  })
  expect((await run([prepared('a')]))![0]!.kind).toBe('failed')
})

test('outcomes share a write, one write runs at a time, and each caller has its own result', async () => {
  const writes: { tokens: string[]; end(settled: boolean[]): void; fail(error: Error): void }[] = []
  const outcomes = new OutcomeWriter({
    settle: (settlements) =>
      new Promise((end, fail) =>
        writes.push({ tokens: settlements.map(({ lease }) => lease.token), end, fail }),
      ),
  })
  const call = (token: string) =>
    outcomes
      .write({ lease: { seq: 1, token }, outcome: done, durationMs: 1 })
      .catch((error: Error) => error.message)
  const first = [call('a'), call('b')]
  await turn()
  const second = [call('c'), call('d')]
  await turn()
  expect(writes.map(({ tokens }) => tokens)).toEqual([['a', 'b']])
  writes[0]!.end([true, false])
  expect(await Promise.all(first)).toEqual([true, false])
  expect(writes.map(({ tokens }) => tokens)).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ])
  writes[1]!.fail(new Error('away'))
  expect(await Promise.all(second)).toEqual(['away', 'away'])
  const many = Array.from({ length: 501 }, (_, i) => call(`${i}`))
  await turn()
  expect(writes).toHaveLength(3)
  expect(writes[2]!.tokens).toHaveLength(500)
  writes[2]!.end(writes[2]!.tokens.map(() => true))
  await many[0]
  expect(writes[3]!.tokens).toEqual(['500'])
  writes[3]!.end([true])
  expect(await Promise.all(many)).toEqual(many.map(() => true))
})
