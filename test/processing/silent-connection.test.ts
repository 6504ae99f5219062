/**
 * Connections that nobody hears any more while new ones work: a failover without a reset, a NAT entry that was dropped.
 * Processing goes on with new connections, and every effect happens once.
 */
import { createInbox, silentLog } from 'hookonce'
import { type PostgresTx, postgres } from 'hookonce/postgres'
import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Line, startLine } from '../support/line.js'
import { postgresLog, type SharedLog } from '../support/logs.js'
import { ids, post, postAll, quickRetry, shop, signal, stateOf, until } from '../support/processing.js'
import { afterwards, serving } from '../support/serving.js'

const rounds = Number(process.env.HOOKONCE_CHAOS_ROUNDS ?? 1)
/** From the silence to everything handled: a lease, a timeout and two deadlines of a statement, on a slow machine. */
const patienceMs = 100_000

let log: SharedLog
let line: Line

beforeEach(async () => {
  log = await postgresLog()
  line = await startLine(log.args[1]!)
})
afterEach(async () => {
  await line.close()
  await log.remove()
})

function inboxOn(url: string) {
  const store = postgres({ url, schema: log.args[2]!, statementTimeout: 2_000 })
  const inbox = createInbox({
    store,
    sources: { shop: shop() },
    processing: { lease: 3_000, poll: 50, concurrency: 4, retry: { ...quickRetry, maxAttempts: 50 } },
    log: silentLog,
  })
  afterwards(() => store.close())
  afterwards(() => inbox.stop({ deadline: 500 }))
  return inbox
}

test(
  'processing goes on when every open connection falls silent in the middle of handlers',
  async () => {
    const inbox = inboxOn(line.url)
    let inside = 0
    let gate = signal()
    inbox.on(
      'shop',
      '*',
      async (event, ctx) => {
        const tx = ctx.tx as PostgresTx
        await tx.query('select 1')
        inside++
        await gate.wait
        await tx.query(log.insertEffect, [event.id])
      },
      { timeout: 4_000 },
    )
    await inbox.start()
    const sent: string[] = []
    for (let round = 0; round < rounds; round++) {
      gate = signal()
      inside = 0
      const names = ids(20, `r${round}-`)
      sent.push(...names)
      await postAll(
        inbox,
        names.map((id) => ({ id })),
      )
      await until(() => inside >= 4, 'handlers are inside their transactions')
      line.forget()
      gate.give()
      const effects = async () => (await log.effects()).length === sent.length
      await until(effects, 'everything is handled', patienceMs)
    }
    expect((await log.effects()).sort()).toEqual(sent.sort())
    for (const id of sent) await until(async () => (await stateOf(inbox, id)) === 'succeeded', 'settled')
    // A backend that nobody hears of again gives its locks back by itself.
    await until(async () => (await lingering()) === 0, 'no transaction is left open', patienceMs)
  },
  (2 * patienceMs + 10_000) * rounds,
)

async function lingering(): Promise<number> {
  const client = new pg.Client({ connectionString: log.args[1]! })
  await client.connect()
  try {
    const { rows } = await client.query<{ count: number }>(
      `select count(*)::int as count from pg_locks l join pg_class c on c.oid = l.relation
       join pg_namespace n on n.oid = c.relnamespace
       where l.database = (select oid from pg_database where datname = current_database())
       and n.nspname like $1 and l.pid <> pg_backend_pid() and c.relkind = 'r'`,
      [`${log.args[2]}%`],
    )
    return rows[0]!.count
  } finally {
    await client.end()
  }
}

test(
  'a delivery gets its answer on a new connection when the open ones fall silent',
  async () => {
    const inbox = inboxOn(line.url)
    await inbox.start()
    await postAll(inbox, [{ id: 'first' }])
    line.forget()
    expect(await post(inbox, { id: 'second' })).toMatchObject({ httpStatus: 200, status: 'accepted' })
  },
  patienceMs,
)

test(
  'wake-ups from another process come again after the connection that listens fell silent',
  async () => {
    const store = postgres({ url: line.url, schema: log.args[2]!, statementTimeout: 1_000 })
    afterwards(() => store.close())
    await store.migrate()
    const other = inboxOn(log.args[1]!)
    let woken = 0
    const unsubscribe = await store.subscribe(() => void woken++)
    afterwards(() => unsubscribe())
    await postAll(other, [{ id: 'first' }])
    await until(() => woken > 0, 'the first wake-up')
    line.forget()
    woken = 0
    let next = 0
    await until(
      async () => {
        await post(other, { id: `again-${next++}` })
        return woken > 0
      },
      'a wake-up on a new connection',
      patienceMs,
    )
  },
  patienceMs * 2,
)

test(
  '/readyz says so while no connection works at all, and when it works again',
  async () => {
    const inbox = inboxOn(line.url)
    await inbox.start()
    const { url } = await serving(inbox, { readyTimeout: 1_000 })
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
    line.cut('silence')
    await until(async () => (await fetch(`${url}/readyz`)).status === 503, 'not ready', patienceMs)
    line.join()
    await until(async () => (await fetch(`${url}/readyz`)).status === 200, 'ready again', patienceMs)
  },
  patienceMs * 2,
)
