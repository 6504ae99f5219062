/** Mappers on `ctx.tx`, on a real PostgreSQL: what they write and the outcome are one transaction. */
import { readFile } from 'node:fs/promises'
import type { HandlerContext } from 'hookonce'
import { asClient, type PostgresTx } from 'hookonce/postgres'
import { expect, test } from 'vitest'
import { installExtras } from '../../scripts/extras.mjs'
import { type Bench, onLog, post, stateOf } from '../support/processing.js'

await installExtras('apps')
const { sql: drizzleSql } = await import('drizzle-orm')
const { pgSchema, text } = await import('drizzle-orm/pg-core')
const { drizzleOn } = await import('../../examples/orm/drizzle.js')
const { knexOn } = await import('../../examples/orm/knex.js')
const { kyselyOn } = await import('../../examples/orm/kysely.js')
const { prismaOn } = await import('../../examples/orm/prisma.js')

type Context = HandlerContext<PostgresTx>

interface Mapper {
  /** Writes a row through the mapper and reads it back. */
  write(ctx: Context, schema: string, value: string): Promise<unknown>
  /** The same in a transaction of the mapper's own, which `fails` in the end. */
  nested(ctx: Context, schema: string, value: string, fails: boolean): Promise<unknown>
}

const stop = new Error('the inner transaction fails')

function drizzleTable(schema: string) {
  return pgSchema(schema).table('effects', { value: text('value').notNull() })
}

interface Tables {
  effects: { value: string }
}

const mappers: Record<string, Mapper> = {}

mappers['node-postgres'] = {
  write: (ctx, schema, value) => ctx.tx.query(`insert into ${schema}.effects values ($1)`, [value]),
  async nested(ctx, schema, value, fails) {
    const client = asClient(ctx.tx)
    await client.query('BEGIN')
    await client.query(`insert into ${schema}.effects values ($1)`, [value])
    await client.query(fails ? 'ROLLBACK' : 'COMMIT')
    if (fails) throw stop
  },
}

mappers.Drizzle = {
  async write(ctx, schema, value) {
    const db = drizzleOn(ctx)
    const table = drizzleTable(schema)
    await db.insert(table).values({ value })
    expect(await db.select().from(table).where(drizzleSql`value = ${value}`)).toEqual([{ value }])
  },
  nested: (ctx, schema, value, fails) =>
    drizzleOn(ctx).transaction(async (tx) => {
      await tx.insert(drizzleTable(schema)).values({ value })
      if (fails) throw stop
    }),
}

mappers.Kysely = {
  async write(ctx, schema, value) {
    const db = kyselyOn<Tables>(ctx).withSchema(schema)
    await db.insertInto('effects').values({ value }).execute()
    expect(await db.selectFrom('effects').selectAll().where('value', '=', value).execute()).toEqual([
      { value },
    ])
  },
  nested: (ctx, schema, value, fails) =>
    kyselyOn<Tables>(ctx)
      .transaction()
      .execute(async (tx) => {
        await tx.withSchema(schema).insertInto('effects').values({ value }).execute()
        if (fails) throw stop
      }),
}

mappers.Prisma = {
  async write(ctx, schema, value) {
    const db = prismaOn(ctx, schema)
    await db.effects.create({ data: { value } })
    expect(await db.effects.findMany({ where: { value } })).toEqual([{ value }])
  },
  nested: (ctx, schema, value, fails) =>
    prismaOn(ctx, schema).$transaction(async (tx) => {
      await tx.effects.create({ data: { value } })
      if (fails) throw stop
    }),
}

mappers.Knex = {
  async write(ctx, schema, value) {
    const db = knexOn(ctx)
    await db.withSchema(schema).table('effects').insert({ value })
    expect(await db.withSchema(schema).table('effects').where({ value })).toEqual([{ value }])
  },
  nested: (ctx, schema, value, fails) =>
    knexOn(ctx).transaction(async (tx) => {
      await tx.withSchema(schema).table('effects').insert({ value })
      if (fails) throw stop
    }),
}

onLog('PostgreSQL', (bench) => {
  const userSchema = () => `${bench.log.args[2]}_user`

  /** The transaction that wrote the effect, and the one that wrote the outcome. */
  async function writers(bench: Bench): Promise<Record<string, unknown>> {
    const [row] = await bench.rows(`select
      (select json_agg(distinct xmin::text) from ${userSchema()}.effects) as effects,
      (select json_agg(distinct xmin::text) from log.attempts where outcome = 'succeeded') as outcomes`)
    return row!
  }

  for (const [name, mapper] of Object.entries(mappers)) {
    test(`${name}: what it wrote and the outcome are one transaction`, async () => {
      const { inbox } = bench.inbox()
      inbox.on('shop', '*', async (event, ctx) => {
        await mapper.write(ctx as Context, userSchema(), event.id)
      })
      await post(inbox, { id: 'e1' })
      await inbox.drain()
      expect(await stateOf(inbox, 'e1')).toBe('succeeded')
      expect(await bench.log.effects()).toEqual(['e1'])
      const { effects, outcomes } = await writers(bench)
      expect(effects).toEqual(outcomes)
      expect(effects).toHaveLength(1)
    })

    test(`${name}: a throw undoes both, and the next attempt writes once`, async () => {
      const { inbox } = bench.inbox()
      inbox.on('shop', '*', async (event, ctx) => {
        await mapper.write(ctx as Context, userSchema(), event.id)
        if (ctx.attempt === 1) throw new Error('after the effect')
      })
      await post(inbox, { id: 'e1' })
      await inbox.process('shop', 'e1')
      expect(await bench.log.effects()).toEqual([])
      expect(await stateOf(inbox, 'e1')).toBe('failed')
      await inbox.process('shop', 'e1')
      expect(await bench.log.effects()).toEqual(['e1'])
      expect(await stateOf(inbox, 'e1')).toBe('succeeded')
    })

    test(`${name}: a lost lease undoes what was written`, async () => {
      const { inbox, lines } = bench.inbox()
      inbox.on('shop', '*', async (event, ctx) => {
        await mapper.write(ctx as Context, userSchema(), event.id)
        // Another worker takes it over: the lease has run out and is claimed again.
        await bench.log.sql(`update log.work set next_at = now() - interval '1 second'`)
        const [taken] = await bench.store().claim({ worker: 'other', limit: 1, leaseMs: 5_000 })
        expect(taken?.id).toBe(event.id)
      })
      await post(inbox, { id: 'e1' })
      expect(await inbox.process('shop', 'e1')).toEqual({ kind: 'lost' })
      expect(await bench.log.effects()).toEqual([])
      expect(lines.some((line) => line.code === 'LEASE_LOST')).toBe(true)
    })

    test(`${name}: a transaction of its own is a part of the handler's`, async () => {
      const { inbox } = bench.inbox()
      inbox.on('shop', '*', async (_event, given) => {
        const ctx = given as Context
        await mapper.write(ctx, userSchema(), 'before')
        await mapper.nested(ctx, userSchema(), 'kept', false)
        await expect(mapper.nested(ctx, userSchema(), 'undone', true)).rejects.toBe(stop)
        await mapper.write(ctx, userSchema(), 'after')
      })
      await post(inbox, { id: 'e1' })
      await inbox.drain()
      expect(await stateOf(inbox, 'e1')).toBe('succeeded')
      expect((await bench.log.effects()).sort()).toEqual(['after', 'before', 'kept'])
    })

    test(`${name}: after its own transaction a throw still undoes everything`, async () => {
      const { inbox } = bench.inbox()
      inbox.on('shop', '*', async (_event, ctx) => {
        await mapper.nested(ctx as Context, userSchema(), 'kept', false)
        throw new Error('after all')
      })
      await post(inbox, { id: 'e1' })
      await inbox.process('shop', 'e1')
      expect(await bench.log.effects()).toEqual([])
    })
  }

  test('ctx.tx itself cannot be begun, committed or rolled back, in any spelling', async () => {
    const { inbox } = bench.inbox()
    const refused: string[] = []
    inbox.on('shop', '*', async (_event, given) => {
      const { tx } = given as Context
      for (const text of [
        'begin',
        ' COMMIT',
        '-- x\n/* y */ end',
        'rollback',
        'abort',
        'start  transaction',
        'Rollback work',
      ]) {
        await tx.query(text).catch((error: Error) => refused.push(error.message))
        await tx.query({ text }).catch((error: Error) => refused.push(error.message))
      }
      await tx.query('savepoint a')
      await tx.query('rollback to savepoint a')
      await tx.query('rollback work to a')
      await tx.query("select 'commit'")
    })
    await post(inbox, { id: 'e1' })
    await inbox.drain()
    expect(await stateOf(inbox, 'e1')).toBe('succeeded')
    expect(refused).toHaveLength(14)
    expect(new Set(refused.map((text) => text.includes('use a savepoint')))).toEqual(new Set([true]))
  })

  test('a client on ctx.tx that ends what it has not begun is told so, and fails after the attempt', async () => {
    const { inbox } = bench.inbox()
    let late: ReturnType<typeof asClient> | undefined
    inbox.on('shop', '*', async (_event, ctx) => {
      late = asClient((ctx as Context).tx)
      await expect(late.query('commit')).rejects.toThrow('has no matching begin')
      await expect(late.query('start transaction isolation level serializable')).rejects.toThrow('isolation')
    })
    await post(inbox, { id: 'e1' })
    await inbox.drain()
    const answer = await new Promise((resolve) => late!.query('select 1', (error: Error) => resolve(error)))
    expect(answer).toMatchObject({ code: 'TRANSACTION_CLOSED' })
  })
})

test('the bridges in docs/transactions.md are the ones tested here', async () => {
  const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8')
  const page = await read('docs/transactions.md')
  for (const [name, fence] of Object.entries({
    drizzle: 'ts',
    kysely: 'ts',
    knex: 'ts',
    prisma: 'ts prisma',
  }))
    expect(page).toContain(`\`\`\`${fence}\n${await read(`examples/orm/${name}.ts`)}\`\`\``)
})
