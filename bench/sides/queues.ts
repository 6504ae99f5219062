/**
 * A queue behind the same route: the event is checked on node:http, added under its id, and answered when the queue has
 * it. The id makes a resent event no second entry while the first one is there; each queue forgets it with the entry.
 * Each queue is imported by its own side only.
 */
import type { Server } from 'node:http'
import pg from 'pg'
import { type Checked, checkedServer } from './http.js'

const connectionString = process.env.BENCH_POSTGRES!

export async function pgBossRoute(): Promise<Server> {
  const { PgBoss } = await import('pg-boss')
  const boss = new PgBoss({ connectionString, max: 20, supervise: false, schedule: false })
  boss.on('error', console.error)
  await boss.start()
  await boss.createQueue('stripe', { retryLimit: 5, expireInSeconds: 60 })
  return checkedServer(async (event) => {
    await boss.send('stripe', payloadOf(event), { id: uuidOf(event) })
  })
}

export async function graphileRoute(): Promise<Server> {
  const { Logger, makeWorkerUtils } = await import('graphile-worker')
  const pgPool = new pg.Pool({ connectionString, max: 20 })
  pgPool.on('error', console.error)
  pgPool.on('connect', (client) => client.on('error', console.error))
  const utils = await makeWorkerUtils({ pgPool, logger: new Logger(() => () => {}) })
  await utils.migrate()
  return checkedServer(async (event) => {
    await utils.addJob('stripe', payloadOf(event), { jobKey: event.id, jobKeyMode: 'unsafe_dedupe' })
  })
}

export async function bullmqRoute(): Promise<Server> {
  const { Queue } = await import('bullmq')
  const connection = { host: '127.0.0.1', port: Number(process.env.BENCH_REDIS_PORT) }
  const queue = new Queue('stripe', { connection })
  await queue.waitUntilReady()
  return checkedServer(async (event) => {
    await queue.add(event.type, payloadOf(event), { jobId: event.id, attempts: 5 })
  })
}

function payloadOf({ id, type, body }: Checked): { id: string; type: string; body: string } {
  return { id, type, body: body.toString() }
}

/** pg-boss takes only UUIDs: the 24 hexadecimal digits of the id, as one. */
function uuidOf({ id }: Checked): string {
  const hex = id.slice(-24)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(12, 15)}-8${hex.slice(15, 18)}-${hex.slice(18)}000000`
}
