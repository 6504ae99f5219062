/**
 * Receiving and handling in one process, for the suite end-to-end. The handler writes one row and notes the
 * time, by the monotonic clock of the machine. The amount in an event is its index.
 */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInbox } from 'hookonce'
import { nodeHandler } from 'hookonce/node'
import { postgres } from 'hookonce/postgres'
import { stripe } from 'hookonce/providers'
import { sqlite } from 'hookonce/sqlite'
import pg from 'pg'
import { answer } from '../support/child-process.js'
import { SECRET } from '../support/requests.js'
import { checkedServer } from './http.js'

const connectionString = process.env.BENCH_POSTGRES!
const CONCURRENCY = 16
const insert = 'insert into effects (event_id, amount) values ($1, $2)'
const insertAll = 'insert into effects (event_id, amount) select * from unnest($1::text[], $2::int[])'
const table = 'create table if not exists effects (event_id text not null, amount int not null)'

let doneAts = new Float64Array(0)
let doneCount = 0
let check = () => {}

function finished(index: number): void {
  if (index < doneAts.length && doneAts[index] === 0) {
    doneAts[index] = Number(process.hrtime.bigint()) / 1e6
    doneCount++
    check()
  }
}

const sides: Record<string, () => Promise<Server>> = {
  sqlite: onSqlite,
  postgres: () => onPostgres('single', 1),
  share: () => onPostgres('shared', 50),
  'pg-boss': pgBoss,
  graphile,
  bullmq,
  inline,
  'by-hand': byHand,
}

interface StripeEvent {
  readonly id: string
  readonly data: { readonly object: { readonly amount_paid: number } }
}

const common = {
  sources: { stripe: stripe({ secret: SECRET }) },
  processing: { concurrency: CONCURRENCY },
  log: { debug() {}, info() {}, warn() {}, error: console.error },
}

async function onSqlite(): Promise<Server> {
  const inbox = createInbox({ ...common, store: sqlite(process.env.BENCH_SQLITE!) })
  let hasTable = false
  inbox.on('stripe', '*', async (event, ctx) => {
    const { id, data } = event.payload as StripeEvent
    if (!hasTable) await ctx.tx.run(table)
    hasTable = true
    await ctx.tx.run('insert into effects values (?, ?)', [id, data.object.amount_paid])
    finished(data.object.amount_paid)
  })
  await inbox.start()
  return createServer(nodeHandler(inbox))
}

async function onPostgres(schema: string, share: number): Promise<Server> {
  const store = postgres({ url: connectionString, schema, maxTransactions: 20 })
  const inbox = createInbox({ ...common, store })
  inbox.on(
    'stripe',
    '*',
    async (event, ctx) => {
      const { id, data } = event.payload as StripeEvent
      await ctx.tx.query({ name: 'effect', text: insert, values: [id, data.object.amount_paid] })
      finished(data.object.amount_paid)
    },
    { share },
  )
  await inbox.start()
  return createServer(nodeHandler(inbox))
}

async function inline(): Promise<Server> {
  const inbox = createInbox({
    ...common,
    store: postgres({ url: connectionString, schema: 'inline', maxTransactions: 20 }),
    sources: { stripe: stripe({ secret: SECRET, mode: 'inline' }) },
  })
  inbox.on('stripe', '*', async (event, ctx) => {
    const { id, data } = event.payload as StripeEvent
    await ctx.tx.query({ name: 'effect', text: insert, values: [id, data.object.amount_paid] })
    finished(data.object.amount_paid)
  })
  await inbox.start()
  return createServer(nodeHandler(inbox))
}

/** The usual hand-written receiver, without its usual mistakes: the key and the effect commit together. */
async function byHand(): Promise<Server> {
  const pool = new pg.Pool({ connectionString, max: 20 })
  await pool.query(`create table processed_events
    (event_id text primary key, payload jsonb not null, received_at timestamptz not null default now())`)
  return checkedServer(async ({ id, body }) => {
    const client = await pool.connect()
    try {
      await client.query('begin')
      const { rowCount } = await client.query({
        name: 'key',
        text: 'insert into processed_events (event_id, payload) values ($1, $2) on conflict do nothing',
        values: [id, body.toString()],
      })
      const index = (JSON.parse(body.toString()) as StripeEvent).data.object.amount_paid
      if (rowCount === 1) await client.query({ name: 'effect', text: insert, values: [id, index] })
      await client.query('commit')
      finished(index)
    } catch (error) {
      await client.query('rollback')
      throw error
    } finally {
      client.release()
    }
  })
}

async function pgBoss(): Promise<Server> {
  const { PgBoss } = await import('pg-boss')
  const boss = new PgBoss({ connectionString, max: 40, supervise: false, schedule: false })
  boss.on('error', console.error)
  await boss.start()
  await boss.createQueue('stripe', { retryLimit: 5, expireInSeconds: 60 })
  const own = new pg.Pool({ connectionString, max: 20 })
  await boss.work<StripeEvent>(
    'stripe',
    { localConcurrency: CONCURRENCY, batchSize: 50, burstWhenBatchFull: true, pollingIntervalSeconds: 0.5 },
    async (jobs) => {
      const indexes = jobs.map(({ data }) => data.data.object.amount_paid)
      await own.query({
        name: 'effects',
        text: insertAll,
        values: [jobs.map(({ data }) => data.id), indexes],
      })
      for (const index of indexes) finished(index)
    },
  )
  return checkedServer(async ({ body }) => void (await boss.send('stripe', JSON.parse(body.toString()))))
}

async function graphile(): Promise<Server> {
  const { Logger, makeWorkerUtils, run } = await import('graphile-worker')
  const logger = new Logger(() => () => {})
  const pgPool = new pg.Pool({ connectionString, max: 20 })
  pgPool.on('error', console.error)
  pgPool.on('connect', (client) => client.on('error', console.error))
  const utils = await makeWorkerUtils({ pgPool, logger })
  await utils.migrate()
  await run({
    preset: {
      worker: {
        connectionString,
        logger,
        concurrentJobs: CONCURRENCY,
        maxPoolSize: 20,
        localQueue: { size: 500 },
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
      },
    },
    noHandleSignals: true,
    taskList: {
      async stripe(payload, { withPgClient }) {
        const { id, data } = payload as StripeEvent
        const index = data.object.amount_paid
        await withPgClient((client) => client.query({ name: 'effect', text: insert, values: [id, index] }))
        finished(index)
      },
    },
  })
  return checkedServer(
    async ({ id, body }) =>
      void (await utils.addJob('stripe', JSON.parse(body.toString()), {
        jobKey: id,
        jobKeyMode: 'unsafe_dedupe',
      })),
  )
}

async function bullmq(): Promise<Server> {
  const { Queue, Worker } = await import('bullmq')
  const connection = { host: '127.0.0.1', port: Number(process.env.BENCH_REDIS_PORT) }
  const queue = new Queue('both', { connection })
  const own = new pg.Pool({ connectionString, max: 20 })
  const worker = new Worker<StripeEvent>(
    'both',
    async ({ data }) => {
      const index = data.data.object.amount_paid
      await own.query({ name: 'effect', text: insert, values: [data.id, index] })
      finished(index)
    },
    { connection: { ...connection, maxRetriesPerRequest: null }, concurrency: CONCURRENCY },
  )
  await worker.waitUntilReady()
  return checkedServer(
    async ({ id, type, body }) =>
      void (await queue.add(type, JSON.parse(body.toString()), { jobId: id, attempts: 5 })),
  )
}

const server = await sides[process.argv[2]!]!()

answer({
  async listen() {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return { port: (server.address() as AddressInfo).port }
  },
  async expect({ count }) {
    doneAts = new Float64Array(Number(count))
    doneCount = 0
  },
  /** Resolves when so many events were handled. */
  done({ count }) {
    return new Promise((resolve) => {
      check = () => doneCount >= Number(count) && resolve([...doneAts])
      check()
    })
  },
})
