/** Webhooks in over real HTTP, as their senders sign them, on both stores; seen again through the admin API. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { github, shopify, standardWebhooks, stripe, telegram } from 'hookonce/providers'
import { describe, expect, test } from 'vitest'
import { wholeInbox } from '#dist/inbox/internals.js'
import { loggedInbox, secretOf } from '../support/inboxes.js'
import { type Bench, onBothLogs, signal, until } from '../support/processing.js'
import { afterwards, heard, say, send, serving, signed, tokenOf } from '../support/serving.js'

const sources = {
  stripe: stripe({ secret: secretOf('stripe') }),
  github: github({ secret: secretOf('github') }),
  shopify: shopify({ secret: secretOf('shopify') }),
  acme: standardWebhooks({ secret: `whsec_${Buffer.from(secretOf('acme')).toString('base64')}` }),
}
/** It signs nothing, so an event of it without an id cannot be named. */
const unsigned = telegram({ secret: secretOf('telegram') })

async function start(bench: Bench, limits = {}) {
  const made = bench.inbox({ sources: { ...sources, unsigned }, limits })
  const handled: string[] = []
  for (const name of Object.keys(sources))
    made.inbox.on(name, '*', async (event) => {
      handled.push(`${name} ${event.id}`)
    })
  await made.inbox.start()
  const served = await serving(made.inbox, { admin: { tokens: [tokenOf('let-me-in-0123456789')] } })
  return { ...made, ...served, handled }
}

onBothLogs((bench) => {
  test.each(Object.entries(sources))(
    '%s: accepted, handled, a duplicate the second time',
    async (name, source) => {
      const { url, handled, inbox } = await start(bench)
      const delivery = await signed(source)
      const first = await send(url, name, delivery)
      const answer = (await first.json()) as { event_id: string }
      expect([first.status, answer]).toEqual([
        200,
        { status: 'accepted', event_id: expect.any(String), duplicate: false },
      ])
      await until(() => handled.length === 1, 'handled')
      await until(
        async () => (await inbox.events.get({ source: name, id: answer.event_id }))?.state === 'succeeded',
        'succeeded',
      )
      const second = await send(url, name, delivery)
      expect([second.status, await second.json()]).toEqual([
        200,
        { status: 'already_processed', event_id: answer.event_id, duplicate: true },
      ])
      expect(handled).toEqual([`${name} ${answer.event_id}`])
      const seen = await fetch(`${url}/api/events?source=${name}`, {
        headers: { authorization: 'Bearer let-me-in-0123456789' },
      })
      expect([seen.status, await seen.json()]).toMatchObject([
        200,
        { events: [{ id: answer.event_id, state: 'succeeded', deliveries: 2 }] },
      ])
    },
  )

  test('answers 404, 401, 400, 405 and 413 as specified, and stores nothing for them', async () => {
    const { url, inbox } = await start(bench, { bodyBytes: 2_000 })
    const delivery = await signed(sources.stripe)
    const status = async (answer: Promise<Response>) => {
      const response = await answer
      return [response.status, ((await response.json()) as { status: string }).status]
    }
    expect(await status(send(url, 'nobody', delivery))).toEqual([404, 'rejected'])
    expect(await status(send(url, 'stripe', { ...delivery, body: Buffer.from('{}') }))).toEqual([
      401,
      'rejected',
    ])
    const nameless = await unsigned.sign({ body: '{}', now: Date.now() })
    expect(await status(send(url, 'unsigned', nameless))).toEqual([400, 'invalid'])
    expect(await status(fetch(`${url}/webhooks/stripe`))).toEqual([405, 'rejected'])
    expect(await status(send(url, 'stripe', { ...delivery, body: Buffer.alloc(3_000) }))).toEqual([
      413,
      'rejected',
    ])
    expect(await inbox.events.stats()).toEqual([])
    expect({ ...wholeInbox(inbox).counters.of('stripe').rejected }).toEqual({
      bad_signature: 1,
      method: 1,
      body_too_large: 1,
    })
    expect({ ...wholeInbox(inbox).counters.of('unsigned').rejected }).toEqual({ no_event_id: 1 })
    expect({ ...wholeInbox(inbox).counters.of('(unknown)').rejected }).toEqual({ unknown_source: 1 })
  })

  test('is ready while the store answers; 503 with Retry-After and not ready when it does not', async () => {
    const store = bench.store()
    let away = false
    const gone = () => Promise.reject(Object.assign(new Error('secret-host:5432 refused')))
    const { inbox } = bench.inbox({
      sources,
      store: {
        ...store,
        record: (deliveries) => (away ? gone() : store.record(deliveries)),
        ping: () => (away ? gone() : store.ping()),
      },
    })
    await wholeInbox(inbox).store()
    const { url } = await serving(inbox, { readyTimeout: 20_000 })
    const ready = await fetch(`${url}/readyz`)
    expect([ready.status, await ready.json()]).toEqual([200, { status: 'ready', store: 'reachable' }])
    away = true
    // An answer is kept for a moment.
    await expect
      .poll(async () => {
        const unready = await fetch(`${url}/readyz`)
        return [unready.status, await unready.json()]
      })
      .toEqual([503, { status: 'not_ready', store: 'STORE_FAILED' }])
    const refused = await send(url, 'stripe', await signed(sources.stripe))
    expect([refused.status, refused.headers.get('retry-after'), await refused.json()]).toEqual([
      503,
      '5',
      { status: 'unavailable' },
    ])
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    away = false
    await expect.poll(async () => (await fetch(`${url}/readyz`)).status).toBe(200)
  })
})

describe('/readyz', () => {
  test('does not wait for a store that hangs', async () => {
    const { inbox } = loggedInbox({ store: 'sqlite::memory:', sources })
    await inbox.start()
    const held = signal()
    const store = await wholeInbox(inbox).store()
    const hanging = { ...inbox, store: async () => ({ ...store, ping: () => held.wait.then(() => 0) }) }
    afterwards(async () => held.give())
    const { url } = await serving(hanging, { readyTimeout: 50 })
    const answer = await fetch(`${url}/readyz`)
    expect([answer.status, await answer.json()]).toEqual([
      503,
      { status: 'not_ready', store: 'no answer within 50 ms' },
    ])
  })
})

describe('/readyz with a spool', () => {
  test('is ready without the store while the spool has room', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hookonce-ready-'))
    const spool = { path: join(folder, 'spool.db'), maxBytes: 100_000, after: 200 }
    // A port nobody listens on.
    const { inbox } = loggedInbox({ store: 'postgres://nobody@127.0.0.1:9/none', sources, spool })
    afterwards(() => rm(folder, { recursive: true, force: true }))
    afterwards(() => inbox.stop())
    await inbox.start()
    const { url } = await serving(inbox, { readyTimeout: 20_000 })
    const answer = await send(url, 'stripe', await signed(sources.stripe))
    expect([answer.status, await answer.json()]).toMatchObject([202, { status: 'spooled' }])
    const ready = await fetch(`${url}/readyz`)
    expect([ready.status, await ready.json()]).toEqual([
      200,
      { status: 'ready', store: 'STORE_UNAVAILABLE', spool: { depth: 1, full: false } },
    ])
    const full = { ...inbox, spool: { ...inbox.spool!, hasRoom: async () => false } }
    const other = await serving(full, { readyTimeout: 20_000 })
    expect((await fetch(`${other.url}/readyz`)).status).toBe(503)
  })
})

describe('what is not a delivery', () => {
  test('is counted and answered: other paths, no HTTP at all, headers without end', async () => {
    const { inbox, lines } = loggedInbox({ store: 'sqlite::memory:', sources })
    const { url, port } = await serving(inbox)
    expect((await fetch(`${url}/wp-login.php`)).status).toBe(404)
    expect((await fetch(`${url}/healthz`, { method: 'POST' })).status).toBe(405)
    expect(await heard(say(port, 'hello there\r\n\r\n'))).toMatch(/^HTTP\/1\.1 400 /)
    const long = `GET / HTTP/1.1\r\nhost: h\r\n${`x-h: ${'a'.repeat(5_000)}\r\n`.repeat(20)}\r\n`
    expect(await heard(say(port, long))).toMatch(/^HTTP\/1\.1 431 /)
    expect({ ...wholeInbox(inbox).counters.of('(unknown)').rejected }).toEqual({
      unknown_source: 1,
      malformed_request: 1,
      headers_too_large: 1,
    })
    expect(lines.filter((line) => line.reason !== undefined)).toHaveLength(3)
  })

  test('a delivery may come in the absolute form, and to any Host', async () => {
    const { inbox } = loggedInbox({ store: 'sqlite::memory:', sources })
    const { port } = await serving(inbox)
    const { headers, body } = await signed(sources.stripe)
    const lines = Object.entries({ ...headers, host: 'anything.example', 'content-length': body.byteLength })
    const text = `POST http://proxy.example/webhooks/stripe HTTP/1.1\r\nconnection: close\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${Buffer.from(body).toString('latin1')}`
    expect(await heard(say(port, text))).toMatch(/^HTTP\/1\.1 200 /)
  })
})
