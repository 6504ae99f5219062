/** A full disk under SQLite: senders are told to come again, reading and pruning go on, and nothing acked is lost. */

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInbox, type Inbox, silentLog } from 'hookonce'
import { sqlite } from 'hookonce/sqlite'
import type { CompleteStore } from 'hookonce/testing/contracts'
import { afterEach, expect, test } from 'vitest'
import { wholeInbox } from '#dist/inbox/internals.js'
import { shop } from '../support/processing.js'

const MB = 1024 * 1024
const letGo: (() => unknown)[] = []
afterEach(async () => {
  for (const step of letGo.splice(0).reverse()) await step()
})

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'hookonce-full-'))
  letGo.push(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** Null where this is not allowed. */
function smallDisk(size: string): string | null {
  const path = folder()
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', path], { stdio: 'ignore' })
  } catch {
    return null
  }
  letGo.push(() => execFileSync('umount', ['-l', path]))
  return path
}

function open(store: CompleteStore): Inbox {
  const inbox = createInbox({ store, sources: { shop: shop() }, log: silentLog })
  inbox.on('shop', '*', () => {})
  letGo.push(() => inbox.stop())
  return inbox
}

const send = (inbox: Inbox, id: string) =>
  inbox.receive('shop', {
    method: 'POST',
    url: 'http://localhost/',
    headers: {},
    body: Buffer.from(JSON.stringify({ id, type: 't', filler: id.repeat(60_000 / id.length) })),
  })

/** Sends until it is refused; those acked, and the answer to the one that was not. */
async function fillUp(inbox: Inbox, prefix: string) {
  const acked: string[] = []
  for (let i = 0; i < 2_000; i++) {
    const id = `${prefix}-${i}-`
    const receipt = await send(inbox, id)
    if (receipt.httpStatus !== 200) return { acked, refused: { id, receipt } }
    acked.push(id)
  }
  throw new Error('it never was full')
}

async function allThere(inbox: Inbox, acked: readonly string[]): Promise<void> {
  for (const eventId of acked) {
    expect(await inbox.events.get({ source: 'shop', id: eventId })).not.toBeNull()
    const payload = await inbox.events.payload({ source: 'shop', id: eventId })
    expect(JSON.parse(Buffer.from(payload!.body).toString()).id).toBe(eventId)
  }
}

test('a file that may not grow: 503, reads and prune go on, and there is room again afterwards', async () => {
  const inbox = open(sqlite(join(folder(), 'events.db'), { maxBytes: 4 * MB }))
  const { acked, refused } = await fillUp(inbox, 'first')
  expect(refused.receipt).toMatchObject({ httpStatus: 503, status: 'unavailable' })
  expect(acked.length).toBeGreaterThan(20)
  await allThere(inbox, acked)
  expect(await inbox.events.get({ source: 'shop', id: refused.id })).toBeNull()
  // Nothing is finished yet, and the log is full: what is not finished stays.
  const store = await wholeInbox(inbox).store()
  const prune = () =>
    store.retention!.prune({ source: 'shop', payloadsBefore: Date.now() + 1_000, limit: 10 })
  expect((await prune()).payloads).toBe(0)
  const half = acked.slice(0, 20)
  await store.operate({
    verb: 'ignore',
    events: half.map((eventId) => ({ source: 'shop', id: eventId })),
    actor: 'ada',
    note: 'room is needed',
  })
  expect((await prune()).payloads).toBe(10)
  expect((await prune()).payloads).toBe(10)
  expect((await send(inbox, refused.id)).httpStatus).toBe(200)
  await allThere(inbox, [...acked.slice(20), refused.id])
  const again = await fillUp(inbox, 'second')
  expect(again.acked.length).toBeGreaterThan(5)
  await allThere(inbox, [...acked.slice(20), refused.id, ...again.acked])
})

test('a disk that is full: 503, nothing acked is lost, and all is well when there is space again', async (context) => {
  const disk = smallDisk('24m')
  if (disk === null && process.env.CI === 'true')
    throw new Error(
      'A tmpfs cannot be mounted here. Run the tests as root, in a container with CAP_SYS_ADMIN.',
    )
  if (disk === null) return context.skip('a tmpfs cannot be mounted here')
  const path = join(disk, 'events.db')
  const inbox = open(sqlite(path))
  const { acked, refused } = await fillUp(inbox, 'first')
  expect(refused.receipt).toMatchObject({ httpStatus: 503, status: 'unavailable' })
  await allThere(inbox, acked)
  expect((await send(inbox, refused.id)).httpStatus).toBe(503)
  execFileSync('mount', ['-o', 'remount,size=96m', disk])
  expect((await send(inbox, refused.id)).httpStatus).toBe(200)
  await inbox.drain()
  const store = await wholeInbox(inbox).store()
  const finished = [...acked, refused.id]
  expect((await store.stats())[0]).toMatchObject({ recorded: finished.length, succeeded: finished.length })
  await allThere(inbox, finished)
  const { payloads } = await store.retention!.prune({
    source: 'shop',
    payloadsBefore: Date.now() + 1_000,
    limit: 10_000,
  })
  expect(payloads).toBe(finished.length)
})
