/** I1 and I3 under kill -9: what was acknowledged is there, and what was done is done once. */

import type { EventPage, EventRecord } from 'hookonce'
import type { CompleteStore } from 'hookonce/testing/contracts'
import { afterEach, describe, expect, test } from 'vitest'
import { type Child, startChild } from '../support/child.js'
import { delivery } from '../support/delivery.js'
import { postgresLog, postgresSchemaLog, type SharedLog, sqliteLog } from '../support/logs.js'
import { startPostgres, type TestPostgres } from '../support/postgres.js'

const rounds = Number(process.env.HOOKONCE_KILL_ROUNDS ?? 1)
const patienceMs = 120_000 + rounds * 5_000

const children: Child[] = []
afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.kill()))
})

function child(script: string, args: readonly string[]): Child {
  const started = startChild(`./${script}`, args)
  children.push(started)
  return started
}

const someMs = (most: number) => new Promise((resolve) => setTimeout(resolve, Math.random() * most))

async function wholeLog(store: CompleteStore): Promise<EventRecord[]> {
  const all: EventRecord[] = []
  for (let cursor: string | null = null; ; ) {
    const page: EventPage = await store.list({}, { limit: 500, cursor })
    all.push(...page.events)
    cursor = page.next
    if (cursor === null) return all
  }
}

/** Every acknowledged id has a row, with its bytes; no id has two. */
async function everyAckIsThere(store: CompleteStore, lines: readonly string[]): Promise<void> {
  const acked = lines.map((line) => line.split(' ') as [string, string])
  expect(acked.filter(([status]) => status !== 'recorded' && status !== 'duplicate')).toEqual([])
  const rows = (await wholeLog(store)).map((row) => row.id)
  const there = new Set(rows)
  expect(there.size).toBe(rows.length)
  expect(acked.map(([, id]) => id).filter((id) => !there.has(id))).toEqual([])
  for (const [, id] of acked.slice(-5)) {
    const payload = await store.inspect.payload({ source: 'shop', id: id })
    expect(Buffer.from(payload?.body ?? []).toString()).toBe(`body of ${id}`)
  }
}

const logs: Record<string, () => Promise<SharedLog>> = {
  SQLite: sqliteLog,
  PostgreSQL: postgresLog,
}

describe.each(Object.entries(logs))('on %s', (_, makeLog) => {
  test(
    'every event acknowledged before a kill -9 of the recording process is in the log',
    async () => {
      const log = await makeLog()
      const store = log.open()
      try {
        await store.migrate()
        const lines: string[] = []
        for (let round = 0; round < rounds; round++) {
          const pair = ['a', 'b'].map((name) =>
            child('recording-child.mjs', [`${name}${round}`, ...log.args]),
          )
          for (const one of pair) await one.said(20)
          for (const one of pair) {
            await someMs(300)
            await one.kill()
          }
          lines.push(...pair.flatMap((one) => one.lines))
          await everyAckIsThere(store, lines)
        }
      } finally {
        await store.close()
        await log.remove()
      }
    },
    patienceMs,
  )

  test(
    'every event handled by processes that are killed has its effect once',
    async () => {
      const log = await makeLog()
      const store = log.open()
      try {
        await store.migrate()
        const ids = Array.from({ length: (rounds + 1) * 200 }, (_, i) => `e${i}`)
        for (let round = 0; round <= rounds; round++) {
          // New work each round, so that there is always something to be killed in.
          await store.record(ids.slice(round * 200, (round + 1) * 200).map(delivery))
          const pair = [0, 1].map(() => child('working-child.mjs', [log.insertEffect, ...log.args]))
          await Promise.race(pair.map((one) => one.said(5)))
          for (const one of pair) {
            await someMs(100)
            await one.kill()
          }
        }
        const last = child('working-child.mjs', [log.insertEffect, ...log.args])
        await expect.poll(async () => (await store.stats())[0]?.succeeded).toBe(ids.length)
        await last.kill()
        expect((await log.effects()).sort()).toEqual(ids.sort())
      } finally {
        await store.close()
        await log.remove()
      }
    },
    patienceMs,
  )
})

describe('on a PostgreSQL server that is killed itself', () => {
  test(
    'every event acknowledged before a kill -9 of the server is in the log after its recovery',
    async () => {
      const server: TestPostgres = await startPostgres()
      try {
        const log = await postgresSchemaLog(server.url)
        const first = log.open()
        await first.migrate()
        await first.close()
        const recording = child('recording-child.mjs', ['x', ...log.args])
        for (let round = 1; round < rounds; round++) {
          await recording.said(recording.lines.length + 20)
          await someMs(400)
          await server.kill9()
          await server.restart()
        }
        // The process has outlived its servers and goes on by itself.
        await recording.said(recording.lines.length + 20)
        await recording.kill()
        await server.kill9()
        await server.restart()
        const store = log.open()
        await everyAckIsThere(store, recording.lines)
        await store.close()
      } finally {
        await server.remove()
      }
    },
    patienceMs,
  )
})
