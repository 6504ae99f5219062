/**
 * Every point x every fault x both stores. The short tier takes a part of the list, another part for each store;
 * HOOKONCE_POINTS=all (`npm run chaos -- points`) takes all, and HOOKONCE_POINTS=log.record,transaction.finish only these.
 */

import { directory } from 'hookonce/archive'
import type { CompleteStore } from 'hookonce/testing/contracts'
import { afterAll, describe, expect, test } from 'vitest'
import { postgresHarness } from '../support/postgres-harness.js'
import { type OwnHarness, sqliteHarness } from '../support/sqlite-harness.js'
import { type Fault, faults } from './faults.js'
import { notCalled, points } from './points.js'
import { runWithFault } from './workload.js'

const wanted = process.env.HOOKONCE_POINTS
/** So many of all pairs are in the short tier. */
const SHARE = 24
/** Logs that are worked on at the same time; most of the time is spent waiting. */
const LOGS = 3

const harnesses: Record<string, () => Promise<OwnHarness<never>>> = {
  SQLite: sqliteHarness as never,
  PostgreSQL: postgresHarness as never,
}
/** Methods that a store may leave out: its logger, the name of its place for a cache, and the writer of a row. */
const optional = new Set(['log.logTo', 'keys.place', 'inspect.writerOf'])
/**
 * On PostgreSQL an effect is recorded beside the transaction, and nothing of the current month is archived: payloads go with
 * their partition.
 */
const ofArchive = Object.keys(points).filter(
  (point) => point.startsWith('target.') || /^archive\.(archived|receipts|restore)$/.test(point),
)
const notCalledOn: Record<string, ReadonlySet<string>> = {
  SQLite: notCalled,
  PostgreSQL: new Set([...notCalled, 'transaction.keys.effect', ...ofArchive]),
}

describe.each(Object.entries(harnesses))('on %s', (kind, open) => {
  const logs: { readonly harness: OwnHarness<never>; readonly store: CompleteStore<never> }[] = []
  afterAll(() => Promise.all(logs.map(({ harness }) => harness.end())))

  async function openLog() {
    const harness = await open()
    return { harness, store: (await harness.open()) as CompleteStore<never> }
  }

  test('the list of points is the contract of a store and of an archive', async () => {
    const { harness, store } = await openLog()
    logs.push({ harness, store })
    const transaction = await store.transaction()
    await transaction.rollback()
    const capabilities = Object.entries(store).filter(([, part]) => typeof part === 'object')
    const found = [
      ...methods('log', store),
      ...methods('transaction', transaction),
      ...methods('transaction.keys', transaction.keys!),
      ...methods('transaction.replies', transaction.replies!),
      ...capabilities.flatMap(([name, part]) => methods(name, part as object)),
      ...methods('target', directory('unused')),
    ]
    const required = found.filter((name) => !optional.has(name))
    expect(required.sort()).toEqual(Object.keys(points).sort())
  })

  test('no fault at any point loses, doubles or blocks an event', async () => {
    const list = chosen(kind)
    const failures: string[] = []
    const next = list[Symbol.iterator]()
    await Promise.all(
      Array.from({ length: LOGS }, async () => {
        const { harness, store } = await openLog()
        logs.push({ harness, store })
        for (const [point, fault] of next)
          await runWithFault(harness, store, point, fault).catch((error: unknown) => {
            failures.push(`${point} ${fault}: ${(error as Error).message}`)
          })
      }),
    )
    console.info(`${kind}: ${list.length} pairs of a point and a fault, ${failures.length} failures`)
    expect(failures).toEqual([])
  }, 1_800_000)
})

function methods(object: string, part: object): string[] {
  return Object.entries(part).flatMap(([name, value]) =>
    typeof value === 'function' ? [`${object}.${name}`] : [],
  )
}

function chosen(kind: string): (readonly [string, Fault])[] {
  const called = Object.keys(points).filter((point) => !notCalledOn[kind]!.has(point))
  const pairs = called.flatMap((point) => faults.map((fault) => [point, fault] as const))
  if (wanted === 'all') return pairs
  if (wanted !== undefined) return pairs.filter(([point]) => wanted.split(',').includes(point))
  const offset = kind === 'SQLite' ? 0 : SHARE / 2
  return pairs.filter((_, i) => (i + offset + Math.floor(i / faults.length)) % SHARE === 0)
}
