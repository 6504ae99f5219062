/** What a reader of the log sees while commits overtake each other, and after retention has been there. */
import type { Store } from 'hookonce'
import type { NewDelivery } from 'hookonce/testing/contracts'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { postgresLog, postgresSchemaLog, type SharedLog, sqliteLog } from '../support/logs.js'

const ROUNDS = Number(process.env.HOOKONCE_TAIL_ROUNDS ?? 20)

function delivery(eventId: string, source = 'shop'): NewDelivery {
  const event = { id: eventId, type: 't', reference: null, contentHash: null, guardHash: null }
  return { source, headers: {}, body: new Uint8Array([1]), events: [event], contentGuard: 'review' }
}

async function ids(store: Store, after = 0): Promise<string[]> {
  return (await store.tail({ after, limit: 500 })).events.map((e) => e.id)
}

describe('a tail on PostgreSQL', () => {
  let log: SharedLog
  let schema: string
  let outside: pg.Client
  let stores: Store[]
  const open = () => {
    const store = log.open()
    stores.push(store)
    return store
  }

  beforeEach(async () => {
    log = await postgresLog()
    schema = log.args[2]!
    stores = []
    outside = new pg.Client({ connectionString: log.args[1]! })
    await outside.connect()
    await open().migrate()
  })
  afterEach(async () => {
    await outside.end()
    await Promise.all(stores.map((store) => store.close()))
    await log.remove()
  })

  /** Until so many statements of the log wait for a row that `outside` holds. */
  async function waiting(count: number): Promise<void> {
    const look = new pg.Client({ connectionString: log.args[1]! })
    await look.connect()
    try {
      for (;;) {
        const { rows } = await look.query(
          `select count(*)::int as n from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock' and query like $1`,
          [`%"${schema}".%`],
        )
        if (rows[0].n === count) return
      }
    } finally {
      await look.end()
    }
  }

  /** An event of somebody's that is inserted and not committed: who records the same one waits. */
  async function holdEvent(eventId: string): Promise<void> {
    await outside.query('begin')
    await outside.query(
      `insert into ${schema}.events (seq, batch, received_at, source, event_id, event_type)
       values (-1, 0, now(), 'shop', $1, 't')`,
      [eventId],
    )
  }

  test('a statement that has numbers and has not committed holds the tail below them, from the first number on', async () => {
    const [reader, writer] = [open(), open()]
    await holdEvent('held')
    const late = open().record([delivery('first'), delivery('held')])
    await waiting(1)
    await writer.record([delivery('overtaking')])
    expect(await reader.get({ source: 'shop', id: 'overtaking' })).not.toBeNull()
    expect(await reader.tail({ after: 0, limit: 10 })).toEqual({ events: [], position: 0, gap: false })
    await outside.query('rollback')
    await late
    expect(await ids(reader)).toEqual(['first', 'held', 'overtaking'])
  })

  test('numbers that are never used are passed over once their statement has ended', async () => {
    const [reader, writer] = [open(), open()]
    await writer.record([delivery('before')])
    const { position } = await reader.tail({ after: 0, limit: 10 })
    await holdEvent('held')
    const loser = open().record([delivery('held')])
    await waiting(1)
    await writer.record([delivery('overtaking')])
    const held = await reader.tail({ after: position, limit: 10 })
    expect(held).toEqual({ events: [], position, gap: false })
    await outside.query('commit')
    await expect(loser).resolves.toMatchObject([[{ status: 'duplicate' }]])
    expect(await ids(reader, position)).toEqual(['overtaking'])
  })

  test('a statement that waits before it has taken a number holds nothing', async () => {
    const [reader, writer] = [open(), open()]
    const hash = new Uint8Array(32)
    await outside.query('begin')
    await outside.query(`insert into ${schema}.guards values ('shop', $1, 'x')`, [Buffer.from(hash)])
    const guarded = delivery('guarded')
    const late = open().record([{ ...guarded, events: [{ ...guarded.events[0]!, guardHash: hash }] }])
    await waiting(1)
    await writer.record([delivery('quick')])
    expect(await ids(reader)).toEqual(['quick'])
    await outside.query('rollback')
    await late
    expect(await ids(reader)).toEqual(['quick', 'guarded'])
  })

  test("a handler's open transaction, and another log in the same database, hold nothing", async () => {
    const other = await postgresSchemaLog(log.args[1]!)
    const store = open()
    await store.record([delivery('a')])
    const [claimed] = await store.claim({ worker: 'w', limit: 1, leaseMs: 60_000 })
    const handler = await store.transaction()
    await handler.settle([{ lease: claimed!.lease, outcome: { kind: 'succeeded' }, durationMs: 1 }])
    await holdEvent('held')
    const late = open().record([delivery('held')])
    await waiting(1)
    const elsewhere = other.open()
    await elsewhere.migrate()
    await elsewhere.record([delivery('b')])
    expect(await ids(elsewhere)).toEqual(['b'])
    await outside.query('rollback')
    await late
    expect(await ids(store)).toEqual(['a', 'held'])
    await handler.rollback()
    await elsewhere.close()
    await other.remove()
  })

  test('numbers beyond what a lock can carry are understood', async () => {
    const [reader, writer] = [open(), open()]
    for (const near of [2 ** 31, 2 ** 32, 2 ** 40 + 2 ** 31, 2 ** 41]) {
      await outside.query(`select setval('${schema}.event_seq', ${near - 3})`)
      await writer.record([delivery(`before ${near}`)])
      const { position } = await reader.tail({ after: near - 10, limit: 10 })
      expect(position).toBe(near - 2)
      await holdEvent(`held ${near}`)
      const late = open().record([delivery(`late ${near}`), delivery(`held ${near}`)])
      await waiting(1)
      await writer.record([delivery(`overtaking ${near}`)])
      expect(await reader.tail({ after: near - 3, limit: 10 })).toMatchObject({ position, gap: false })
      await outside.query('rollback')
      await late
      expect(await ids(reader, position)).toEqual([`late ${near}`, `held ${near}`, `overtaking ${near}`])
    }
  })

  test('many writers that pause inside their transactions: every event once, in an order that stays', async () => {
    // Between the number and the row, and between the row and the commit, where a busy server would pause.
    await outside.query(`
      create function ${schema}.pause() returns trigger language plpgsql as $$
      begin
        if random() < 0.2 then perform pg_sleep(random() * 0.02); end if;
        return new;
      end $$;
      create trigger before_row before insert on ${schema}.events for each row execute function ${schema}.pause();
      create constraint trigger before_commit after insert on ${schema}.events deferrable initially deferred
        for each row execute function ${schema}.pause()`)
    const reader = open()
    let writing = 6
    const writers = Array.from({ length: writing }, async (_, w) => {
      const store = open()
      for (let i = 0; i < ROUNDS; i++) {
        const own = Array.from({ length: 1 + ((w + i) % 4) }, (_, n) => delivery(`${w} ${i} ${n}`))
        await store.record(i % 5 === 0 ? [...own, delivery(`shared ${i}`)] : own)
      }
      writing--
    })
    const seen: string[] = []
    for (let position = 0, last = false; ; ) {
      const page = await reader.tail({ after: position, limit: 50 })
      seen.push(...page.events.map((e) => e.id))
      if (last && page.position === position) break
      position = page.position
      last = writing === 0
    }
    await Promise.all(writers)
    const { rows } = await outside.query(`select event_id from ${schema}.events order by seq`)
    expect(seen).toEqual(rows.map((row) => row.event_id))
  })
})

describe.each([
  ['SQLite', sqliteLog],
  ['PostgreSQL', postgresLog],
] as const)('a tail after retention, on %s', (_, makeLog) => {
  test('who is behind what was removed is told so, of the source that is followed', async () => {
    const log = await makeLog()
    const store = log.open()
    await store.migrate()
    for (let i = 0; i < 6; i++) await store.record([delivery(`e${i}`, i % 2 ? 'shop' : 'crm')])
    const seqs = (await store.tail({ after: 0, limit: 10 })).events.map((e) => e.seq)
    await log.sql(`delete from log.events where seq = ${seqs[3]}`)
    await log.sql(`insert into log.pruned (source, seq) values ('shop', ${seqs[3]})`)
    const gap = async (after: number, source?: string) =>
      (await store.tail({ after, limit: 10, ...(source && { source }) })).gap
    expect(await gap(0)).toBe(false)
    expect(await gap(seqs[0]!)).toBe(true)
    expect(await gap(seqs[2]!, 'shop')).toBe(true)
    expect(await gap(seqs[2]!, 'crm')).toBe(false)
    expect(await gap(seqs[3]!)).toBe(false)
    expect(await gap(seqs[5]!)).toBe(false)
    await store.close()
    await log.remove()
  })
})
