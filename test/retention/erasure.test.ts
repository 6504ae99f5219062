/** Everything about one person: found by the id that the sender gave them, and erased. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { DatabaseSync } from '@photostructure/sqlite'
import { type Delivery, HookonceError, permanent, type Source } from 'hookonce'
import type { CompleteStore } from 'hookonce/testing/contracts'
import pg from 'pg'
import { expect, test } from 'vitest'
import { archiveRun } from '#dist/retention/archive/run.js'
import { directoryArchive } from '../support/archives.js'
import type { SharedLog } from '../support/logs.js'
import { onBothLogs, until } from '../support/processing.js'
import type { Sent } from '../support/references.js'
import { type Person, personalSenders } from './erasure-samples.js'

const gone: Person = { digits: '4711', name: 'Canary Goneaway' }
const stays: Person = { digits: '4812', name: 'Robin Stayshere' }

const keyOf = (factory: { key: string }) => factory.key

async function deliveryOf(source: Source, { headers, body, form }: Sent, more: object): Promise<Delivery> {
  const text = form === undefined ? JSON.stringify(body) : new URLSearchParams(form).toString()
  const contentType = form === undefined ? 'application/json' : 'application/x-www-form-urlencoded'
  const all = { ...more, 'content-type': contentType, ...headers }
  return source.sign({ body: text, headers: all, now: Date.now() })
}

/** What the tables of the log contain, deleted rows left out. */
async function tablesOf(log: SharedLog): Promise<Buffer> {
  const [kind, where = '', schema = ''] = log.args
  if (kind === 'sqlite') {
    const database = new DatabaseSync(where, { timeout: 60_000 })
    try {
      database.exec('vacuum')
      // The inbox goes on reading, and a reader keeps a checkpoint from its end.
      await until(() => {
        const done = database.prepare('pragma wal_checkpoint(truncate)').get() as { busy: number }
        return done.busy === 0
      }, 'all of it is in the file')
    } finally {
      database.close()
    }
    return readFile(where)
  }
  const client = new pg.Client({ connectionString: where })
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string }>(
      'select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace ' +
        "where n.nspname = $1 and c.relkind in ('r', 'p')",
      [schema],
    )
    const parts: Buffer[] = []
    for (const { name } of rows) {
      const found = await client.query<Record<string, unknown>>(`select * from "${schema}"."${name}"`)
      for (const value of found.rows.flatMap((row) => Object.values(row)))
        parts.push(Buffer.isBuffer(value) ? value : Buffer.from(`${JSON.stringify(value)} `))
    }
    return Buffer.concat(parts)
  } finally {
    await client.end()
  }
}

/** The names of the archived objects in which a delivery has the text. */
async function objectsWith(folder: string, text: string): Promise<string[]> {
  const paths = (await readdir(folder, { recursive: true })).filter((path) => path.endsWith('.gz'))
  const found: string[] = []
  for (const path of paths) {
    const lines = gunzipSync(await readFile(join(folder, path)))
      .toString()
      .trim()
      .split('\n')
    const bodies = lines.map((line) => Buffer.from(JSON.parse(line).body, 'base64').toString())
    if (bodies.some((body) => decodeURIComponent(body.replaceAll('+', ' ')).includes(text))) found.push(path)
  }
  return found.sort()
}

onBothLogs((bench) => {
  test('of a person that twenty-eight senders know, nothing is left in the tables and in the spool, and the archive is named', async () => {
    expect(personalSenders).toHaveLength(28)
    const folder = await mkdtemp(join(tmpdir(), 'hookonce-erasure-'))
    const archive = await directoryArchive()
    const store = bench.store()
    let isAway = false
    const flaky: CompleteStore = {
      ...store,
      record: (...args) =>
        isAway
          ? Promise.reject(new HookonceError('STORE_UNAVAILABLE', { problem: 'told so' }))
          : store.record(...args),
      ping: () =>
        isAway
          ? Promise.reject(new HookonceError('STORE_UNAVAILABLE', { problem: 'told so' }))
          : store.ping(),
    }
    const sources: Record<string, Source> = {}
    for (const { factory } of personalSenders)
      sources[keyOf(factory)] = (factory as (options: never) => Source)(factory.example() as never)
    const spool = { path: join(folder, 'spool.db'), after: 60_000 }
    const { inbox } = bench.inbox({ store: flaky, sources, spool })
    for (const name of Object.keys(sources)) inbox.on(name, '*', () => {})
    inbox.on(
      'stripe',
      '*',
      async (event, ctx) => {
        await ctx.once('mail', () => Buffer.from(event.raw).toString())
        if (Buffer.from(event.raw).includes(gone.name)) throw permanent(`no mail for ${gone.name}`)
      },
      { consumer: 'mail' },
    )

    async function receiveAll(which: (i: number) => boolean): Promise<void> {
      for (const { factory, idOf, sent } of personalSenders)
        for (const person of [gone, stays])
          for (const [i, one] of sent(idOf(person), person).entries()) {
            if (!which(i)) continue
            const name = keyOf(factory)
            const signed = await deliveryOf(sources[name]!, one, factory.definition.sampleHeaders ?? {})
            expect([name, i, await inbox.receive(name, signed)]).toMatchObject([
              name,
              i,
              { status: isAway ? 'spooled' : 'accepted' },
            ])
          }
    }
    await inbox.start()
    await receiveAll((i) => i !== 1)
    isAway = true
    await receiveAll((i) => i === 1)
    expect(await spoolHas(spool.path, gone.name)).toBe(true)
    isAway = false
    await until(async () => (await inbox.spool!.status()).depth === 0, 'an empty spool')
    // Another content under a known id, which is kept beside the event.
    const changed = {
      ...{ id: 'evt_customer.updated_cus_4812', type: 'customer.updated' },
      data: { object: { id: 'cus_4711', object: 'customer', name: gone.name } },
    }
    await inbox.receive('stripe', await deliveryOf(sources.stripe!, { body: changed }, {}))
    await until(async () => (await inbox.drain()) === 0, 'no due event')
    await until(
      async () => (await inbox.events.stats()).every(({ pending, processing }) => pending + processing === 0),
      'no event that is pending or being handled',
    )
    for (const source of Object.keys(sources))
      await archiveRun({ store, target: archive.target, source, before: Date.now() + 60_000, objectBytes: 1 })

    expect((await tablesOf(bench.log)).includes(gone.name)).toBe(true)
    const archived: string[] = []
    for (const { factory, label, idOf, sent } of personalSenders) {
      const source = keyOf(factory)
      const about = { reference: idOf(gone), label, source, actor: 'ada', note: 'asked to', wait: 0 } as const
      const erased = await inbox.erase(about)
      expect([source, erased.payloads]).toEqual([
        source,
        sent('', gone).length + (source === 'stripe' ? 1 : 0),
      ])
      archived.push(...erased.archived.map(({ day, object }) => join(source, day, `${object}.jsonl.gz`)))
    }
    const tables = await tablesOf(bench.log)
    expect(tables.includes(gone.name)).toBe(false)
    expect(tables.includes(stays.name)).toBe(true)
    expect(await spoolHas(spool.path, gone.name)).toBe(false)
    const holding = await objectsWith(archive.path, gone.name)
    expect(holding.length).toBeGreaterThan(personalSenders.length)
    // The delivery beside which the other content was kept is erased too, and is in the archive.
    expect(archived.filter((path) => holding.includes(path)).sort()).toEqual(holding)
    expect(archived).toHaveLength(holding.length + 1)
    await archive.remove()
    await inbox.stop()
    await rm(folder, { recursive: true, force: true })
  }, 120_000)
})

async function walOf(path: string): Promise<Buffer> {
  return readFile(`${path}-wal`).catch(() => Buffer.alloc(0))
}

async function spoolHas(path: string, text: string): Promise<boolean> {
  return Buffer.concat([await readFile(path), await walOf(path)]).includes(text)
}
