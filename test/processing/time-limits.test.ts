/** `timeout` and the deadline of `stop` hold while a handler's SQL runs; a transaction that must wait is no failure. */
import { createInbox, type Inbox, silentLog } from 'hookonce'
import { type PostgresTx, postgres } from 'hookonce/postgres'
import type { SqliteTx } from 'hookonce/sqlite'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { postgresLog, type SharedLog } from '../support/logs.js'
import { ids, onLog, postAll, quickRetry, shop, signal, stateOf, until } from '../support/processing.js'
import { afterwards } from '../support/serving.js'

describe('SQL that runs longer than its handler may, on PostgreSQL', () => {
  let log: SharedLog
  beforeEach(async () => {
    log = await postgresLog()
  })
  afterEach(() => log.remove())

  const sleep = 'select pg_sleep(45)'

  /** Handlers whose statement runs on the server now. */
  async function sleeping(): Promise<number> {
    const client = new pg.Client({ connectionString: log.args[1]! })
    await client.connect()
    const { rows } = await client.query(
      `select count(*)::int as n from pg_stat_activity
       where datname = current_database() and state = 'active' and query = $1`,
      [sleep],
    )
    await client.end()
    return rows[0].n
  }

  function inboxWith(options: { maxTransactions?: number } = {}): Inbox {
    const store = postgres({ url: log.args[1]!, schema: log.args[2]!, ...options })
    const inbox = createInbox({
      store,
      sources: { shop: shop() },
      processing: {
        lease: 30_000,
        poll: 50,
        concurrency: 16,
        retry: { firstDelay: 600_000, maxDelay: 600_000 },
      },
      log: silentLog,
    })
    afterwards(() => store.close())
    afterwards(() => inbox.stop({ deadline: 100 }))
    return inbox
  }

  test('16 handlers in pg_sleep(45) give slot, connection and lease back soon after their timeout', async () => {
    const inbox = inboxWith({ maxTransactions: 16 })
    const handled: string[] = []
    let begun = 0
    inbox.on(
      'shop',
      'slow',
      async (_event, ctx) => {
        begun++
        await (ctx.tx as PostgresTx).query(sleep)
      },
      { timeout: 2_000 },
    )
    inbox.on('shop', 'quick', async (event, ctx) => {
      await (ctx.tx as PostgresTx).query('select 1')
      handled.push(event.id)
    })
    await inbox.start()
    await postAll(
      inbox,
      ids(16, 'slow-').map((id) => ({ id, type: 'slow' })),
    )
    // One that found no connection in its time is begun again.
    await until(() => begun >= 16, 'all of them run')
    await postAll(inbox, [{ id: 'quick', type: 'quick' }])
    await until(() => handled.length === 1, 'an event behind them is handled')
    for (const id of ids(16, 'slow-'))
      await until(async () => (await stateOf(inbox, id)) === 'failed', 'it has failed')
    const [attempt] = await inbox.events.attempts({ source: 'shop', id: 'slow-0' })
    expect(JSON.stringify(attempt)).toContain('the handler took longer than 2000 ms')
    await until(async () => (await sleeping()) === 0, 'nothing runs on the server')
  })

  test('stop returns by its deadline while SQL runs, and hands the events back', async () => {
    const inbox = inboxWith()
    inbox.on('shop', '*', (_event, ctx) => (ctx.tx as PostgresTx).query(sleep).then(() => {}))
    await inbox.start()
    await postAll(
      inbox,
      ids(4).map((id) => ({ id })),
    )
    await until(async () => (await sleeping()) === 4, 'all of them sleep')
    const from = performance.now()
    await inbox.stop({ deadline: 500 })
    expect(performance.now() - from).toBeLessThan(15_000)
    const store = postgres({ url: log.args[1]!, schema: log.args[2]! })
    afterwards(() => store.close())
    for (const eventId of ids(4)) {
      expect(await store.get({ source: 'shop', id: eventId })).toMatchObject({
        state: 'pending',
        attempts: 0,
      })
    }
    await until(async () => (await sleeping()) === 0, 'nothing runs on the server')
  })

  test.each([
    ['a pool of the store', undefined],
    ['a pool of the application', () => new pg.Pool({ connectionString: log.args[1]!, max: 1 })],
  ])('events that find %s in use wait, and no attempt is used up', async (_name, makePool) => {
    const pool = makePool?.()
    const where = pool ? { pool } : { url: log.args[1]!, maxTransactions: 1 }
    const store = postgres({ ...where, schema: log.args[2]! })
    const inbox = createInbox({
      store,
      sources: { shop: shop() },
      processing: { poll: 50, concurrency: 8, retry: { ...quickRetry, maxAttempts: 2 } },
      log: silentLog,
    })
    // `end` does not wait for the server: the removal of the database may still terminate the connection.
    pool?.on('error', () => {})
    if (pool) afterwards(() => pool.end())
    afterwards(() => store.close())
    afterwards(() => inbox.stop({ deadline: 100 }))
    const gate = signal()
    let holds = false
    const postponed = new Set<string>()
    inbox.on('shop', 'holder', async (_event, ctx) => {
      await (ctx.tx as PostgresTx).query('select 1')
      holds = true
      await gate.wait
    })
    // One finds out by the wait for the pool, the other because its own time is over before that.
    for (const [type, timeoutMs] of [
      ['patient', 30_000],
      ['hasty', 3_000],
    ] as const)
      inbox.on(
        'shop',
        type,
        async (event, ctx) => {
          try {
            await (ctx.tx as PostgresTx).query(log.insertEffect, [event.id])
          } catch (error) {
            postponed.add(event.id)
            throw new Error('wrapped, as mappers do', { cause: error })
          }
        },
        { timeout: timeoutMs },
      )
    await inbox.start()
    await postAll(inbox, [{ id: 'holder', type: 'holder' }])
    await until(() => holds, 'the only connection is taken')
    await postAll(inbox, [
      { id: 'patient', type: 'patient' },
      { id: 'hasty', type: 'hasty' },
    ])
    await until(() => postponed.size === 2, 'both have waited in vain')
    for (const id of ['patient', 'hasty']) expect(await stateOf(inbox, id)).not.toBe('failed')
    gate.give()
    await until(async () => (await log.effects()).length === 2, 'they are handled')
    for (const eventId of ['patient', 'hasty']) {
      await until(async () => (await stateOf(inbox, eventId)) === 'succeeded', 'settled')
      expect(await inbox.events.attempts({ source: 'shop', id: eventId })).toMatchObject([{ attempt: 1 }])
    }
  })
})

onLog('SQLite', (bench) => {
  test('a handler that holds the one writer makes others wait, and no attempt of theirs is used up', async () => {
    const { inbox, lines } = bench.inbox({
      processing: { lease: 30_000, poll: 50, retry: { ...quickRetry, maxAttempts: 1 } },
    })
    let holds = false
    const gate = signal()
    inbox.on('shop', 'holder', async (_event, ctx) => {
      await (ctx.tx as SqliteTx).run(bench.log.insertEffect, ['holder'])
      holds = true
      await gate.wait
    })
    inbox.on('shop', 'hasty', (event, ctx) => bench.write(ctx.tx, event.id), { timeout: 2_000 })
    await inbox.start()
    await postAll(inbox, [
      { id: 'holder', type: 'holder' },
      { id: 'hasty', type: 'hasty' },
    ])
    await until(() => holds, 'the writer is held')
    await until(() => lines.some(({ code }) => code === 'POOL_EXHAUSTED'), 'the hasty one has waited in vain')
    gate.give()
    await until(async () => (await stateOf(inbox, 'hasty')) === 'succeeded', 'it is handled')
    expect(await inbox.events.attempts({ source: 'shop', id: 'hasty' })).toMatchObject([{ attempt: 1 }])
  })
})
