/**
 * A server that ends a connection in the same packet in which it accepts it, as PostgreSQL does when it is killed or shut
 * down at that moment. Nobody has the connection yet, and the process must not end.
 */
import { createServer, type Socket } from 'node:net'
import { postgres } from 'hookonce/postgres'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'

const message = (type: string, body: Buffer): Buffer => {
  const length = Buffer.alloc(4)
  length.writeInt32BE(body.length + 4)
  return Buffer.concat([Buffer.from(type), length, body])
}
const accepted = [
  message('R', Buffer.alloc(4)),
  message('K', Buffer.from([0, 0, 0, 7, 0, 0, 0, 7])),
  message('Z', Buffer.from('I')),
]
const text = 'terminating connection due to unexpected postmaster exit'
const ended = message('E', Buffer.from(`SFATAL\0VFATAL\0C57P01\0M${text}\0\0`))

const sockets = new Set<Socket>()
const server = createServer((socket) => {
  sockets.add(socket)
  socket.on('error', () => {})
  socket.once('data', () => socket.end(Buffer.concat([...accepted, ended])))
})
let url: string
const uncaught: unknown[] = []
const note = (error: unknown) => void uncaught.push(error)

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `postgres://app@127.0.0.1:${(server.address() as { port: number }).port}/shop`
})
afterAll(() => {
  for (const socket of sockets) socket.destroy()
  server.close()
})
beforeEach(() => {
  uncaught.length = 0
  process.prependListener('uncaughtException', note)
})
afterEach(() => {
  process.off('uncaughtException', note)
  expect(uncaught).toEqual([])
})

test('the calls of a store fail, and the process goes on', async () => {
  const store = postgres({ url })
  const calls = [() => store.ping(), () => store.stats(), () => store.migrate(), () => transact(store)]
  for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
  const stop = await store.subscribe(() => {})
  await stop()
  await store.close()
})

test('the calls of a store on a pool of the application fail, and the process goes on', async () => {
  const pool = new pg.Pool({ connectionString: url })
  pool.on('error', () => {})
  const store = postgres({ pool })
  for (const call of [() => store.ping(), () => transact(store)])
    await expect(call()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
  await store.close()
  expect(pool.listenerCount('connect')).toBe(0)
  await pool.end()
})

async function transact(store: ReturnType<typeof postgres>): Promise<void> {
  const transaction = await store.transaction()
  await transaction.tx.query('select 1').catch((error: Error & { code?: string }) => {
    // The driver's own error, or the transaction was closed before the statement.
    throw Object.assign(error, { code: 'STORE_UNAVAILABLE' })
  })
}
