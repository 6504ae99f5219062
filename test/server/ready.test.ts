/** /readyz: could a delivery be recorded now? */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInbox, HookonceError, type Inbox, type InboxOptions } from 'hookonce'
import { unverified } from 'hookonce/providers'
import { sqlite } from 'hookonce/sqlite'
import { expect, test } from 'vitest'
import { afterwards, serving } from '../support/serving.js'

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'hookonce-ready-'))
  afterwards(() => rm(path, { recursive: true, force: true }))
  return path
}

function inboxOn(options: Partial<InboxOptions> & Pick<InboxOptions, 'store'>): Inbox {
  const inbox = createInbox({
    sources: { shop: unverified({ id: 'json:id', type: 'json:type' }) },
    ...options,
  })
  afterwards(() => inbox.stop())
  return inbox
}

const post = async (url: string, id: string, bytes = 0) =>
  (
    await fetch(`${url}/webhooks/shop`, {
      method: 'POST',
      body: JSON.stringify({ id, type: 'x', pad: 'x'.repeat(bytes) }),
    })
  ).status

async function fill(url: string): Promise<number> {
  for (let i = 0; i < 100; i++) {
    const status = await post(url, `e${i}`, 100_000)
    if (status !== 200) return status
  }
  return 200
}

/** An answer may be half a second old. */
async function becomes(url: string, httpStatus: number): Promise<unknown> {
  for (let tries = 0; tries < 200; tries++) {
    const response = await fetch(`${url}/readyz`)
    const answer = await response.json()
    if (response.status === httpStatus) return answer
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`/readyz did not become ${httpStatus}.`)
}

test('a full disk is not ready while deliveries are turned away, and ready again when there is room', async () => {
  const store = sqlite(join(await folder(), 'events.db'), { maxBytes: 1024 * 1024 })
  const inbox = inboxOn({ store, processing: false })
  const { url } = await serving(inbox, { readyTimeout: 20_000 })
  expect(await becomes(url, 200)).toEqual({ status: 'ready', store: 'reachable' })
  expect(await fill(url)).toBe(503)
  expect(await becomes(url, 503)).toEqual({ status: 'not_ready', store: 'STORE_FULL' })
  for (const { source, id } of (await store.list({})).events) {
    await inbox.ignore({ source, id: id }, { actor: 'ada', note: 'room' })
  }
  await store.retention.prune({ source: 'shop', payloadsBefore: Date.now() + 60_000, limit: 100 })
  await becomes(url, 200)
  expect(await post(url, 'after', 100_000)).toBe(200)
  await becomes(url, 200)
})

test('with a spool it is ready while the spool can take deliveries, and only then', async () => {
  const store = sqlite(':memory:')
  let away = true
  const inbox = inboxOn({
    store: {
      ...store,
      record: (deliveries) => (away ? Promise.reject(gone()) : store.record(deliveries)),
      ping: () => (away ? Promise.reject(gone()) : store.ping()),
    },
    spool: { path: join(await folder(), 'spool.db'), maxBytes: 20_000 },
    processing: false,
  })
  const { url } = await serving(inbox, { readyTimeout: 20_000 })
  expect(await post(url, 'first', 3_000)).toBe(202)
  expect(await becomes(url, 200)).toMatchObject({
    store: 'STORE_UNAVAILABLE',
    spool: { depth: 1, full: false },
  })
  let status = 202
  for (let i = 0; status === 202 && i < 100; i++) status = await post(url, `e${i}`, 3_000)
  expect(status).toBe(503)
  expect(await becomes(url, 503)).toMatchObject({ store: 'STORE_UNAVAILABLE', spool: { full: true } })
  away = false
  expect(await becomes(url, 200)).toMatchObject({ store: 'reachable' })
})

const gone = () => new HookonceError('STORE_UNAVAILABLE', { problem: 'for this test' })

test('a store that hangs is asked once, however many ask, and each is answered in time', async () => {
  const store = sqlite(':memory:')
  let asked = 0
  const inbox = inboxOn({
    store: {
      ...store,
      ping: () => {
        asked++
        return new Promise(() => {})
      },
      stats: () => Promise.reject(new Error('readiness does not ask for statistics')),
    },
  })
  const { url } = await serving(inbox, { readyTimeout: 200 })
  for (let round = 0; round < 3; round++) {
    const statuses = await Promise.all(
      Array.from({ length: 20 }, async () => (await fetch(`${url}/readyz`)).status),
    )
    expect(new Set(statuses)).toEqual(new Set([503]))
    await new Promise((resolve) => setTimeout(resolve, 600))
  }
  expect(asked).toBe(1)
})
