/**
 * The other systems in the drain, each configured for its best throughput with 16 concurrent handlers, and imported by its
 * own process only.
 */
import pg from 'pg'
import type { Db, Job } from 'pg-boss'
import { CONCURRENCY, columnsOf, effect, effects, type Item, pool, type System } from './system.js'

const connectionString = process.env.BENCH_POSTGRES!

export const peers: Record<string, () => Promise<System>> = {
  'pg-boss': () => pgBoss('pgboss', false, 50),
  'pg-boss-tx': () => pgBoss('pgboss_tx', true, 50),
  'pg-boss-one': () => pgBoss('pgboss_one', true, 1),
  graphile,
  bullmq,
  'by-hand': byHand,
}

/** Each of 16 workers fetches a batch of jobs and writes their effects in one statement, as a group of hookonce does. */
async function pgBoss(schema: string, transactional: boolean, batchSize: number): Promise<System> {
  const { PgBoss } = await import('pg-boss')
  const boss = new PgBoss({ connectionString, schema, max: 40, supervise: false, schedule: false })
  boss.on('error', console.error)
  await boss.start()
  await boss.createQueue('shop', { retryLimit: 5, expireInSeconds: 60 })
  const own = pool()
  const options = {
    localConcurrency: CONCURRENCY,
    batchSize,
    burstWhenBatchFull: true,
    pollingIntervalSeconds: 0.5,
  }
  return {
    async load(items) {
      await boss.insert(
        'shop',
        items.map((item) => ({ data: item })),
      )
    },
    async work(began) {
      if (transactional) {
        await boss.work('shop', { ...options, transactional: true }, async (jobs: Job<Item>[], tx: Db) => {
          began(jobs.length)
          await tx.executeSql(effects, columnsOf(jobs.map((job) => job.data)))
        })
      } else {
        await boss.work<Item>('shop', options, async (jobs) => {
          began(jobs.length)
          const values = columnsOf(jobs.map((job) => job.data))
          await own.query({ name: 'effects', text: effects, values })
        })
      }
      return () => boss.offWork('shop', { wait: true })
    },
    async close() {
      await boss.stop({ graceful: false })
      await own.end()
    },
  }
}

/** Fetches 500 jobs at a time and batches completions; the effect uses a client of its own pool. */
async function graphile(): Promise<System> {
  const { Logger, makeWorkerUtils, run } = await import('graphile-worker')
  const logger = new Logger(() => () => {})
  const utils = await makeWorkerUtils({ connectionString, logger })
  await utils.migrate()
  return {
    async load(items) {
      await utils.addJobs(items.map((item) => ({ identifier: 'shop', payload: { ...item } })))
    },
    async work(began) {
      const runner = await run({
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
          async shop(payload, helpers) {
            began(1)
            const item = payload as Item
            await helpers.withPgClient((client) =>
              client.query({ name: 'effect', text: effect, values: [item.id, item.amount] }),
            )
          },
        },
      })
      // It stops itself when it loses its connection for a moment; `stop` then rejects.
      return () => runner.stop().catch(() => {})
    },
    close: async () => utils.release(),
  }
}

async function bullmq(): Promise<System> {
  const { Queue, Worker } = await import('bullmq')
  const { Redis } = await import('ioredis')
  const connection = { host: '127.0.0.1', port: Number(process.env.BENCH_REDIS_PORT) }
  const queue = new Queue<Item>('shop', { connection })
  const redis = new Redis({ ...connection })
  const own = pool()
  return {
    async load(items) {
      await queue.addBulk(
        items.map((data) => ({ name: 'paid', data, opts: { jobId: data.id, attempts: 5 } })),
      )
    },
    async work(began) {
      const worker = new Worker<Item>(
        'shop',
        async ({ data }) => {
          began(1)
          await own.query({ name: 'effect', text: effect, values: [data.id, data.amount] })
        },
        { connection: { ...connection, maxRetriesPerRequest: null }, concurrency: CONCURRENCY },
      )
      await worker.waitUntilReady()
      return () => worker.close()
    },
    async logBytes() {
      const info = await redis.info('persistence')
      return Number(/aof_current_size:(\d+)/.exec(info)?.[1] ?? 0)
    },
    async close() {
      await queue.close()
      redis.disconnect()
      await own.end()
    },
  }
}

/** The usual hand-written loop: select one event, handle it, mark it as done, commit. */
async function byHand(): Promise<System> {
  const own = new pg.Pool({ connectionString, max: 20 })
  await own.query(`create table jobs (id bigint generated always as identity primary key, payload jsonb not null,
    done_at timestamptz)`)
  await own.query('create index jobs_due on jobs (id) where done_at is null')

  async function processEvent(client: pg.PoolClient, began: (events: number) => void): Promise<boolean> {
    await client.query('begin')
    const { rows } = await client.query<{ id: string; payload: Item }>({
      name: 'take',
      text: 'select id, payload from jobs where done_at is null order by id limit 1 for update skip locked',
    })
    const [job] = rows
    if (job) {
      began(1)
      await client.query({ name: 'effect', text: effect, values: [job.payload.id, job.payload.amount] })
      await client.query({
        name: 'done',
        text: 'update jobs set done_at = now() where id = $1',
        values: [job.id],
      })
    }
    await client.query('commit')
    return job !== undefined
  }

  return {
    async load(items) {
      await own.query('insert into jobs (payload) select * from unnest($1::jsonb[])', [
        items.map((item) => JSON.stringify(item)),
      ])
    },
    async work(began) {
      const loops = Array.from({ length: CONCURRENCY }, async () => {
        const client = await own.connect()
        while (await processEvent(client, began)) {}
        client.release()
      })
      return async () => void (await Promise.all(loops))
    },
    close: () => own.end(),
  }
}
