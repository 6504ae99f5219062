import { postgres } from 'hookonce/postgres'
import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { delivery } from '../support/delivery.js'
import { postgresLog, type SharedLog } from '../support/logs.js'

let log: SharedLog
let store: ReturnType<typeof postgres>

beforeEach(async () => {
  log = await postgresLog()
  store = postgres({ url: log.args[1]!, schema: log.args[2]! })
  await store.migrate()
})
afterEach(async () => {
  await store.close()
  await log.remove()
})

const claim = async (limit: number) =>
  (await store.claim({ worker: 'w', limit, leaseMs: 60_000, sources: ['shop'] })).map((one) => one.id)

test('a claim that comes back short has looked below where the last one ended', async () => {
  await store.record(Array.from({ length: 10 }, (_, i) => delivery(`e${i}`)))
  expect(await claim(4)).toHaveLength(4)
  // As if committed late: due before all that was taken.
  await log.sql(
    `update log.work set next_at = next_at - interval '1 hour' where seq = (select max(seq) from log.work)`,
  )
  expect((await claim(10)).sort()).toEqual(['e4', 'e5', 'e6', 'e7', 'e8', 'e9'])
  expect(await claim(10)).toEqual([])
})

test('what is due lower is not forgotten while there is always a full share of others', async () => {
  await store.record(Array.from({ length: 40 }, (_, i) => delivery(`e${i}`)))
  await claim(2)
  await log.sql(
    `update log.work set next_at = next_at - interval '1 hour' where seq = (select max(seq) from log.work)`,
  )
  const taken: string[] = []
  while (taken.length < 37 && !taken.includes('e39')) {
    taken.push(...(await claim(1)))
    await new Promise((resolve) => setTimeout(resolve, 60))
  }
  expect(taken).toContain('e39')
  expect(taken.length).toBeLessThan(37)
})

test.each([true, false])(
  'a transaction on a pipelined connection or a plain one is the same (%s)',
  async (pipeline) => {
    const pool = new pg.Pool({ connectionString: log.args[1]!, pipeline })
    // The database is dropped while connections close.
    pool.on('error', () => {})
    const own = postgres({ pool, schema: log.args[2]! })
    try {
      await own.record([delivery('a'), delivery('b'), delivery('c')])
      const [a, b, c] = await own.claim({ worker: 'w', limit: 3, leaseMs: 60_000 })
      const good = await own.transaction()
      await good.tx.query(log.insertEffect, ['good'])
      expect(await good.finish([{ lease: a!.lease, outcome: { kind: 'succeeded' }, durationMs: 1 }])).toBe(
        true,
      )

      const dead = await own.transaction()
      await dead.tx.query(log.insertEffect, ['dead'])
      const lease = { seq: b!.lease.seq, token: a!.lease.token }
      expect(await dead.finish([{ lease, outcome: { kind: 'succeeded' }, durationMs: 1 }])).toBe(false)

      const broken = await own.transaction()
      await broken.tx.query(log.insertEffect, ['broken'])
      await broken.tx.query('select 1/0').catch(() => {})
      await expect(
        broken.finish([{ lease: c!.lease, outcome: { kind: 'succeeded' }, durationMs: 1 }]),
      ).rejects.toMatchObject({ code: 'TRANSACTION_ABORTED' })
      await broken.rollback()

      expect(await log.effects()).toEqual(['good'])
      const states = await Promise.all(
        ['a', 'b', 'c'].map(async (eventId) => (await own.get({ source: 'shop', id: eventId }))!.state),
      )
      expect(states).toEqual(['succeeded', 'processing', 'processing'])
      // The notification of a record may still be on its way.
      await expect.poll(() => [pool.totalCount - pool.idleCount, pool.waitingCount]).toEqual([0, 0])
    } finally {
      await own.close()
      await pool.end()
    }
  },
)

test('each transaction has its own limit on idle time, although the limit is sent only when it changes', async () => {
  const own = postgres({ url: log.args[1]!, schema: log.args[2]!, maxTransactions: 1 })
  try {
    await own.get({ source: 'shop', id: 'none' }) // a session is examined
    await own.record([delivery('a')])
    const limits: unknown[] = []
    for (const idleMs of [1_000, 1_000, 2_000, 2_000, 1_000]) {
      const transaction = await own.transaction({ idleMs })
      const { rows } = await transaction.tx.query('show idle_in_transaction_session_timeout')
      limits.push(Object.values(rows[0])[0])
      // A rollback also undoes settings that belong to the transaction.
      if (limits.length % 2 === 0) await transaction.commit()
      else await transaction.rollback()
    }
    expect(limits).toEqual(['6s', '6s', '7s', '7s', '6s'])
  } finally {
    await own.close()
  }
})

test.each([true, false])(
  'a group with one expired lease leaves nothing on a pipelined connection or a plain one (%s)',
  async (pipeline) => {
    const pool = new pg.Pool({ connectionString: log.args[1]!, pipeline })
    // The database is dropped while connections close.
    pool.on('error', () => {})
    const own = postgres({ pool, schema: log.args[2]! })
    const succeeded = { outcome: { kind: 'succeeded' }, durationMs: 1 } as const
    try {
      await own.record([delivery('a'), delivery('b'), delivery('c')])
      const claimed = await own.claim({ worker: 'w', limit: 3, leaseMs: 60_000 })
      const [a, b, c] = claimed.map(({ lease }) => lease)
      const dead = await own.transaction()
      await dead.tx.query(log.insertEffect, ['dead'])
      const group = [a!, { seq: b!.seq, token: a!.token }, c!]
      expect(await dead.finish(group.map((lease) => ({ lease, ...succeeded })))).toBe(false)
      expect((await own.stats())[0]).toMatchObject({ processing: 3, succeeded: 0 })

      const good = await own.transaction()
      await good.tx.query(log.insertEffect, ['good'])
      expect(await good.finish([c!, a!, b!].map((lease) => ({ lease, ...succeeded })))).toBe(true)
      expect((await own.stats())[0]).toMatchObject({ processing: 0, succeeded: 3 })
      expect(await log.effects()).toEqual(['good'])
      // The notification of a record may still be on its way.
      await expect.poll(() => [pool.totalCount - pool.idleCount, pool.waitingCount]).toEqual([0, 0])
    } finally {
      await own.close()
      await pool.end()
    }
  },
)
