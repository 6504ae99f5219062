/** Faults of the store and its machine around an attempt: they use up no attempt, and make no dead letter. */
import { HookonceError } from 'hookonce'
import { postgres } from 'hookonce/postgres'
import type { CompleteStore } from 'hookonce/testing/contracts'
import pg from 'pg'
import { expect, it } from 'vitest'
import { type Bench, onBothLogs, onLog, post, stateOf, until } from '../support/processing.js'

/** One is enough: the event has a single attempt. */
const FAILURES = 1

/** Handles one event with a single attempt, and returns its attempts. */
async function handled(bench: Bench, store: CompleteStore, stale = false): Promise<unknown[]> {
  const { inbox } = bench.inbox({
    store,
    processing: { lease: 30_000, poll: 20, retry: { maxAttempts: 1 } },
  })
  inbox.on('shop', '*', async ({ id }, ctx) => bench.write(ctx.tx, id), stale ? { stale: () => 1 } : {})
  await inbox.start()
  await post(inbox, { id: 'e1', ref: 'r' })
  await until(
    async () => ['succeeded', 'failed'].includes((await stateOf(inbox, 'e1')) ?? ''),
    'it has ended',
  )
  expect(await bench.log.effects()).toEqual(['e1'])
  const attempts = await inbox.events.attempts({ source: 'shop', id: 'e1' })
  return attempts.map(({ attempt, outcome }) => [attempt, outcome])
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
  for (const code of [
    'STORE_UNAVAILABLE',
    'STORE_FULL',
    'STORE_FAILED',
    'STORE_PRIVILEGE',
    'STORE_BUSY',
  ] as const)
    it(`a transaction that cannot begin with ${code} uses up no attempt`, async () => {
      const store = bench.store()
      failing(store, 'transaction', () => new HookonceError(code, { problem: 'p' }))
      expect(await handled(bench, store)).toEqual([[1, 'succeeded']])
    })

  it('an error that is not one of hookonce, while a transaction begins, uses up no attempt', async () => {
    const store = bench.store()
    failing(store, 'transaction', () => Object.assign(new Error('too many open files'), { code: 'EMFILE' }))
    expect(await handled(bench, store)).toEqual([[1, 'succeeded']])
  })

  it('a stale guard that cannot be read uses up no attempt', async () => {
    const store = bench.store()
    failing(store.keys, 'watermark', () => new HookonceError('STORE_FAILED', { problem: 'p' }))
    expect(await handled(bench, store, true)).toEqual([[1, 'succeeded']])
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

  for (const code of codes)
    it(`${code} while a connection is made uses up no attempt`, async () => {
      const store = onPool((pool) => failing(pool, 'connect', () => fault(code)))
      expect(await handled(bench, store)).toEqual([[1, 'succeeded']])
    })

  for (const code of ['EMFILE', 'XX000', '57P04', '53200'])
    it(`${code} in answer to begin uses up no attempt`, async () => {
      const store = onPool((pool) => failStatements(pool, /^begin/, () => fault(code)))
      expect(await handled(bench, store)).toEqual([[1, 'succeeded']])
    })

  for (const code of ['EPIPE', 'XX000', '58030', '53200', '53100', '57P01'])
    it(`${code} in answer to the settlement and the commit uses up no attempt`, async () => {
      const store = onPool((pool) => failStatements(pool, /; commit$/, () => fault(code)))
      expect(await handled(bench, store)).toEqual([[1, 'succeeded']])
    })

  it('a constraint that fails at the commit is a failure of the handler', async () => {
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
