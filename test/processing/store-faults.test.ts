/** Faults of the store and its machine around an attempt: they use up no attempt, and make no dead letter. */
import { HookonceError } from 'hookonce'
import { postgres } from 'hookonce/postgres'
import type { CompleteStore } from 'hookonce/testing/contracts'
import pg from 'pg'
import { expect, test } from 'vitest'
import { type Bench, onBothLogs, onLog, post, shop, stateOf, until } from '../support/processing.js'

/** One is enough: the event has a single attempt. */
const FAILURES = 1

/** Handles one event with a single attempt, and returns its attempts. */
async function handled(
  bench: Bench,
  store: CompleteStore,
  { source = 'shop', stale = false } = {},
): Promise<unknown[]> {
  const { inbox } = bench.inbox({
    store,
    sources: { [source]: shop() },
    processing: { lease: 30_000, poll: 20, retry: { maxAttempts: 1 } },
  })
  inbox.on(source, '*', async (_event, ctx) => bench.write(ctx.tx, source), stale ? { stale: () => 1 } : {})
  await inbox.start()
  await post(inbox, { id: 'e1', ref: 'r' }, source)
  await until(
    async () => ['succeeded', 'failed'].includes((await stateOf(inbox, 'e1', source)) ?? ''),
    'it has ended',
  )
  expect((await bench.log.effects()).filter((value) => value === source)).toEqual([source])
  const attempts = await inbox.events.attempts({ source, id: 'e1' })
  return attempts.map(({ attempt, outcome }) => [attempt, outcome])
}

/** Each code at the same time, in an inbox of one source: every fault ends in a wait of about a second. */
async function handledWithEach(
  bench: Bench,
  codes: readonly string[],
  storeWith: (code: string) => CompleteStore,
): Promise<void> {
  const attempts = await Promise.all(
    codes.map(async (code, i) => [code, await handled(bench, storeWith(code), { source: `shop-${i}` })]),
  )
  expect(attempts).toEqual(codes.map((code) => [code, [[1, 'succeeded']]]))
}

/** Calls `fail` instead of the method the first times. */
function failing<T extends object>(object: T, method: keyof T, fail: () => unknown): void {
  const real = object[method] as (...args: unknown[]) => unknown
  let failures = 0
  Object.assign(object, {
    [method]: async (...args: unknown[]) => {
      if (failures++ < FAILURES) throw fail()
      return real.apply(object, args)
    },
  })
}

onBothLogs((bench) => {
  test('a transaction that the store cannot begin uses up no attempt', async () => {
    const codes = [
      'STORE_UNAVAILABLE',
      'STORE_FULL',
      'STORE_FAILED',
      'STORE_PRIVILEGE',
      'STORE_BUSY',
    ] as const
    await handledWithEach(bench, codes, (code) => {
      const store = bench.store()
      failing(store, 'transaction', () => new HookonceError(code as (typeof codes)[number], { problem: 'p' }))
      return store
    })
  })

  test('an error that is not one of hookonce, while a transaction begins, uses up no attempt', async () => {
    const store = bench.store()
    failing(store, 'transaction', () => Object.assign(new Error('too many open files'), { code: 'EMFILE' }))
    expect(await handled(bench, store)).toEqual([[1, 'succeeded']])
  })

  test('a stale guard that cannot be read uses up no attempt', async () => {
    const store = bench.store()
    failing(store.keys, 'watermark', () => new HookonceError('STORE_FAILED', { problem: 'p' }))
    expect(await handled(bench, store, { stale: true })).toEqual([[1, 'succeeded']])
  })
})

onLog('PostgreSQL', (bench) => {
  const codes = [
    'EMFILE',
    'ENFILE',
    'EPROTO',
    'ERR_SSL_WRONG_VERSION_NUMBER',
    'CERT_HAS_EXPIRED',
    'XX000',
    '57P04',
    '58000',
    '53200',
    '53300',
    '57P03',
    '3D000',
  ]
  const fault = (code: string) => Object.assign(new Error('no'), { code })

  function onPool(prepare: (pool: pg.Pool) => void): CompleteStore {
    const pool = new pg.Pool({ connectionString: bench.log.args[1]!, max: 2 })
    pool.on('error', () => {})
    prepare(pool)
    const store = postgres({ pool, schema: bench.log.args[2]! })
    const close = store.close.bind(store)
    return Object.assign(store, { close: () => close().then(() => pool.end()) }) as CompleteStore
  }

  /** Fails the first statements that match. */
  function failStatements(pool: pg.Pool, pattern: RegExp, error: () => Error): void {
    let failures = 0
    pool.on('connect', (client) => {
      const query = client.query.bind(client) as (...args: unknown[]) => Promise<unknown>
      Object.assign(client, {
        query: (...args: unknown[]) =>
          pattern.test(String(args[0])) && failures++ < FAILURES ? Promise.reject(error()) : query(...args),
      })
    })
  }

  test('a connection that cannot be made uses up no attempt', () =>
    handledWithEach(bench, codes, (code) => onPool((pool) => failing(pool, 'connect', () => fault(code)))))

  test('an error in answer to begin uses up no attempt', () =>
    handledWithEach(bench, ['EMFILE', 'XX000', '57P04', '53200'], (code) =>
      onPool((pool) => failStatements(pool, /^begin/, () => fault(code))),
    ))

  test('an error in answer to the settlement and the commit uses up no attempt', () =>
    handledWithEach(bench, ['EPIPE', 'XX000', '58030', '53200', '53100', '57P01'], (code) =>
      onPool((pool) => failStatements(pool, /; commit$/, () => fault(code))),
    ))

  test('a constraint that fails at the commit is a failure of the handler', async () => {
    await bench.log.sql(`create table log.parents (id int primary key);
      create table log.children (parent int references log.parents deferrable initially deferred)`)
    const { inbox } = bench.inbox({ processing: { lease: 30_000, poll: 20, retry: { maxAttempts: 1 } } })
    inbox.on('shop', '*', async (_event, ctx) => {
      await (ctx.tx as pg.PoolClient).query(`insert into ${bench.log.args[2]}.children values (1)`)
    })
    await inbox.start()
    await post(inbox, { id: 'e1' })
    await until(async () => (await stateOf(inbox, 'e1')) === 'failed', 'it failed')
  })
})
