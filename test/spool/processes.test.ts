/** Several processes on one spool, and processes that are killed while they drain it. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInbox, HookonceError, silentLog } from 'hookonce'
import { unverified } from 'hookonce/providers'
import type { CompleteStore } from 'hookonce/testing/contracts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Child, startChild } from '../support/child.js'
import { postgresLog, type SharedLog, sqliteLog } from '../support/logs.js'
import { until } from '../support/processing.js'
import { idsBySource } from '../support/senders.js'

const rounds = Number(process.env.HOOKONCE_KILL_ROUNDS ?? 2)
const children: Child[] = []
let folder: string
let path: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hookonce-spool-'))
  path = join(folder, 'spool.db')
})
afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.kill()))
  await rm(folder, { recursive: true, force: true })
})

function child(log: SharedLog, step = '', batchesBefore = 0): Child {
  const started = startChild('./spool-child.mjs', [path, step, String(batchesBefore), ...log.args])
  children.push(started)
  return started
}

async function ask(one: Child, line: string): Promise<string> {
  const count = one.lines.length
  one.tell(line)
  await one.said(count + 1)
  return one.lines[count]!
}

async function statusOf(one: Child) {
  return JSON.parse(await ask(one, 'status')) as { depth: number; storeAway: boolean; draining: boolean }
}

const logs: Record<string, () => Promise<SharedLog>> = {
  SQLite: sqliteLog,
  PostgreSQL: postgresLog,
}

describe.each(Object.entries(logs))('on %s', (_, makeLog) => {
  test(
    'a kill -9 at any step of the drain loses no spooled delivery and doubles none',
    async () => {
      const log = await makeLog()
      const store = log.open()
      try {
        await store.migrate()
        const sent: string[] = []
        for (let round = 0; round < rounds; round++) {
          const ids = Array.from({ length: 600 }, (_, i) => `r${round}-${i}`)
          await fillSpool(store, ids)
          sent.push(...ids)
          // 600 are three batches: killed in the first, the second or the third.
          const step = round % 2 === 0 ? 'after record' : 'before record'
          const dying = child(log, step, round % 3)
          await until(() => dying.lines.includes(step), `it reaches ${step}`)
          await dying.kill()
        }
        const last = child(log, 'never')
        await last.said(1)
        await until(async () => (await statusOf(last)).depth === 0, 'the spool is empty')
        last.tell('stop')
        expect(await last.ended()).toBe(0)
        const found = await idsBySource(store)
        expect(found.get('s0')).toEqual(sent)
      } finally {
        await store.close()
        await log.remove()
      }
    },
    120_000 + rounds * 10_000,
  )
})

test('one process drains at a time, and the next takes over when it is killed', async () => {
  const log = await sqliteLog()
  const store = log.open()
  try {
    await store.migrate()
    await fillSpool(store, ['e0', 'e1', 'e2'])
    const first = child(log, 'before record')
    await until(() => first.lines.includes('before record'), 'the first one drains')
    const second = child(log, 'before record')
    await second.said(1)
    // Each delivery it spools makes it look at once whether it must drain, and it finds the spool taken.
    for (const [i, id] of ['e3', 'e4', 'e5'].entries()) {
      expect(await ask(second, `send s0 ${id}`)).toBe(`spooled ${id}`)
      expect(await statusOf(second)).toMatchObject({ depth: 4 + i, draining: false })
    }
    expect(second.lines).not.toContain('before record')
    await first.kill()
    await until(() => second.lines.includes('before record'), 'the second one drains')
  } finally {
    await store.close()
    await log.remove()
  }
})

test('two processes share a spool: the order of a source holds across them, and nothing is drained twice', async () => {
  const log = await postgresLog()
  const store = log.open()
  try {
    await store.migrate()
    const a = child(log)
    const b = child(log)
    await Promise.all([a.said(1), b.said(1)])
    const sent: string[] = []
    const send = async (one: Child, source = 's0') => {
      const id = `${source}-${sent.length}`
      sent.push(id)
      const answer = await ask(one, `send ${source} ${id}`)
      expect(answer.split(' ')[1]).toBe(id)
      return answer.split(' ')[0]
    }
    for (let i = 0; i < 6; i++) expect(await send(i % 2 ? a : b)).toBe('spooled')
    expect(await statusOf(a)).toMatchObject({ depth: 6, storeAway: true })
    expect(await statusOf(b)).toMatchObject({ depth: 6, storeAway: true })

    // Only b reaches the store: it drains what a has spooled as well, and only then records its own.
    b.tell('back')
    await until(async () => !(await statusOf(b)).storeAway, 'b finds the store')
    expect(await send(b)).toBe('accepted')
    expect(await send(a)).toBe('spooled')
    expect(['accepted', 'spooled']).toContain(await send(b))
    expect(await send(a)).toBe('spooled')
    a.tell('back')
    for (let i = 0; i < 20; i++) expect(['accepted', 'spooled']).toContain(await send(i % 2 ? a : b))
    await until(
      async () => (await statusOf(a)).depth === 0 && !(await statusOf(a)).storeAway,
      'all is drained',
    )
    expect(await send(a)).toBe('accepted')

    expect((await idsBySource(store)).get('s0')).toEqual(sent)
    for (const one of [a, b]) {
      one.tell('stop')
      expect(await one.ended()).toBe(0)
    }
    const { events } = await store.list({ source: 's0' })
    expect(events.filter((event) => event.deliveries !== 1)).toEqual([])
  } finally {
    await store.close()
    await log.remove()
  }
})

/** Through intake, with a store that is away. */
async function fillSpool(real: CompleteStore, ids: readonly string[]): Promise<void> {
  const away = async () => {
    throw new HookonceError('STORE_UNAVAILABLE', { problem: 'told so' })
  }
  const inbox = createInbox({
    store: { ...real, record: away, stats: away, duplicates: { ...real.duplicates, flush: async () => {} } },
    sources: { s0: unverified({ id: 'json:id', type: 'json:type' }) },
    log: silentLog,
    processing: false,
    spool: { path },
    ownsStore: false,
  })
  const receipts = await Promise.all(
    ids.map((id) => {
      const body = Buffer.from(JSON.stringify({ id, type: 'order.paid' }))
      return inbox.receive('s0', { method: 'POST', url: 'http://x/', headers: {}, body })
    }),
  )
  expect(new Set(receipts.map(({ status }) => status))).toEqual(new Set(['spooled']))
  await inbox.stop()
}
