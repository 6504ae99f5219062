/**
 * kill -9 while retention removes, archives and restores: nothing is half gone, and no bytes are gone that no verified
 * object of the archive has. HOOKONCE_CHAOS_ROUNDS makes it more than the few rounds of every day.
 */

import { archiveVerify, directory } from 'hookonce/archive'
import type { CompleteStore } from 'hookonce/testing/contracts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readManifest, readVerified } from '#dist/retention/archive/format.js'
import { directoryArchive } from '../support/archives.js'
import { type Child, startChild } from '../support/child.js'
import { postgresLog, type SharedLog, sqliteLog } from '../support/logs.js'
import { rows, until } from '../support/processing.js'

const ROUNDS = Number(process.env.HOOKONCE_CHAOS_ROUNDS ?? 1)
const DAY_MS = 86_400_000
const COUNT = 100
const TIMEOUT_MS = 120_000 + 20_000 * ROUNDS
const ids = Array.from({ length: COUNT }, (_, i) => `e${i}`)
const bodyOf = (id: string) => `body of ${id} ${'x'.repeat(50)}`

const logs: Record<string, () => Promise<SharedLog>> = {
  SQLite: sqliteLog,
  PostgreSQL: postgresLog,
}

describe.each(Object.entries(logs))('on %s', (_, makeLog) => {
  let log: SharedLog
  let store: CompleteStore
  let archive: Awaited<ReturnType<typeof directoryArchive>>
  const children: Child[] = []
  beforeEach(async () => {
    log = await makeLog()
    store = log.open()
    archive = await directoryArchive()
    await store.migrate()
    await fill(store)
  })
  afterEach(async () => {
    await Promise.all(children.splice(0).map((child) => child.kill()))
    await store.close()
    await log.remove()
    await archive.remove()
  })

  function start(mode: string, folder: string, ages: object): Child {
    const child = startChild('./retaining-child.mjs', [mode, folder, JSON.stringify(ages), ...log.args])
    children.push(child)
    return child
  }

  /** Kills it after some of its steps, and gives the lease of the dead back at once. */
  async function interrupted(mode: string, folder: string, ages: object, most: number): Promise<void> {
    const child = start(mode, folder, ages)
    // It may have nothing left to do: then it ends by itself, which is well too.
    await child.said(1 + Math.floor(Math.random() * most)).catch(() => {})
    await child.kill()
    await until(() => isQuiet(log), 'the server has heard of its death')
    await log.sql('delete from log.keys')
  }

  async function finished(mode: string, folder: string, ages: object): Promise<string> {
    const child = start(mode, folder, ages)
    expect(await child.ended()).toBe(0)
    return child.lines.at(-1)!
  }

  async function nothingHalf(): Promise<void> {
    for (const table of ['attempts', 'effects', 'duplicates', 'work'])
      expect(
        await rows(log, `select seq from log.${table} where seq not in (select seq from log.events)`),
      ).toEqual([])
    expect(
      await rows(
        log,
        'select seq from log.payloads where seq not in (select coalesce(payload_seq, seq) from log.events)',
      ),
    ).toEqual([])
    const [counted] = await rows(log, 'select count(*) as n from log.events')
    const [stats] = await store.stats()
    expect(stats?.recorded ?? 0).toBe(Number(counted!.n))
  }

  test(
    'while events are removed, each is there whole or not at all',
    async () => {
      const ages = { payloads: '30d', events: '40d' }
      for (let round = 0; round < ROUNDS; round++) {
        await interrupted('retain', '', ages, 4)
        await nothingHalf()
      }
      await finished('retain', '', ages)
      await nothingHalf()
      // Received 36 to 45 days ago: the younger ones are kept.
      const left = (await store.list({}, { limit: 500 })).events
      expect(left.every((event) => Date.now() - event.receivedAt <= 40 * DAY_MS)).toBe(true)
      expect(left.length).toBeGreaterThan(0)
      expect(left.length).toBeLessThan(COUNT)
    },
    TIMEOUT_MS,
  )

  test(
    'while payloads are archived and removed, each is in the log or in a verified object',
    async () => {
      const ages = { payloads: '1d', events: '365d' }
      const target = directory(archive.path)
      const archived = async (): Promise<Map<string, string>> => {
        const found = new Map<string, string>()
        for await (const { problems } of archiveVerify(target)) expect(problems).toEqual([])
        for await (const path of target.list('')) {
          if (!path.endsWith('manifest.json')) continue
          for (const object of (await readManifest(target, path))!.objects)
            for (const { events, body } of await readVerified(target, object))
              found.set(events[0]!.id, Buffer.from(body).toString())
        }
        return found
      }
      const nothingLost = async (): Promise<number> => {
        const kept = await archived()
        let there = 0
        for (const id of ids) {
          const payload = await store.inspect.payload({ source: 'shop', id: id })
          if (payload) there++
          expect(payload ? Buffer.from(payload.body).toString() : kept.get(id)).toBe(bodyOf(id))
        }
        return there
      }
      for (let round = 0; round < ROUNDS; round++) {
        await interrupted('retain', archive.path, ages, 20)
        await nothingLost()
        await nothingHalf()
      }
      await finished('retain', archive.path, ages)
      const there = await nothingLost()
      expect(there).toBeLessThan(COUNT)

      // And the way back, cut off as often.
      for (let round = 0; round < ROUNDS; round++) {
        await interrupted('restore', archive.path, ages, 60)
        await nothingLost()
        await nothingHalf()
      }
      await finished('restore', archive.path, ages)
      expect(await nothingLost()).toBe(COUNT)
    },
    TIMEOUT_MS,
  )
})

/** The statement that a killed process has sent is still carried out by PostgreSQL. */
async function isQuiet(log: SharedLog): Promise<boolean> {
  if (log.args[0] === 'sqlite') return true
  const busy = await rows(
    log,
    `select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
     and backend_type = 'client backend' and state <> 'idle'`,
  )
  return busy.length === 0
}

async function fill(store: CompleteStore): Promise<void> {
  const deliveries = ids.map((eventId, i) => ({
    source: 'shop',
    headers: {},
    body: Buffer.from(bodyOf(eventId)),
    events: [{ id: eventId, type: 'order.paid', reference: null, contentHash: null, guardHash: null }],
    contentGuard: 'review' as const,
    receivedAt: Date.now() - (45 - (i % 10)) * DAY_MS,
  }))
  await store.record(deliveries)
  const claimed = await store.claim({ worker: 'w', limit: 1_000, leaseMs: 60_000 })
  await store.settle(claimed.map(({ lease }) => ({ lease, outcome: { kind: 'succeeded' }, durationMs: 1 })))
}
