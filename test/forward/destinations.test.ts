/** Events sent on: signed, byte-equal, once each, with pauses and limits that cost no attempts. */

import { randomBytes } from 'node:crypto'
import { createInbox, silentLog } from 'hookonce'
import { addDestinations, type Destination, type ForwardOptions } from 'hookonce/forward'
import { unverified } from 'hookonce/providers'
import { metricsText } from 'hookonce/telemetry'
import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { wholeInbox } from '#dist/inbox/internals.js'
import { type Endpoint, startEndpoint, status } from '../support/endpoint.js'
import { readExposition } from '../support/exposition.js'
import { type Bench, ids, onLog, post, quickRetry, shop, stateOf, until } from '../support/processing.js'

const secret = `whsec_${randomBytes(24).toString('base64')}`
const allowPrivate = ['127.0.0.0/8']
// No pause of this machine outlasts the lease: an event that is sent again was sent too often.
const processing = { lease: 60_000, poll: 20, retry: quickRetry }
const retry = { ...quickRetry, maxAttempts: 3 }

let billing: Endpoint
let crm: Endpoint
beforeEach(async () => {
  billing = await startEndpoint()
  crm = await startEndpoint()
})
afterEach(async () => {
  await billing.close()
  await crm.close()
})

function forwarding(
  bench: Bench,
  destinations: Record<string, Partial<Destination>>,
  options: ForwardOptions = {},
) {
  const { inbox, lines } = bench.inbox({ sources: { shop: shop(), other: shop() }, processing })
  const own = Object.fromEntries(
    Object.entries(destinations).map(([name, given]) => [
      name,
      { url: billing.url, secret, sources: ['shop'], allowPrivate, retry, ...given },
    ]),
  )
  return { inbox, lines, added: addDestinations(inbox, own, options) }
}

/** The source name of the events of the destination `billing`. */
const BILLING = 'shop/billing'

const seen = (endpoint: Endpoint) => endpoint.arrivals.map(({ headers }) => headers['webhook-id'])

onLog('SQLite', (bench) => {
  test('sends each event of a delivery with its own part of the bytes', async () => {
    const { inbox } = bench.inbox({
      sources: { shop: unverified({ each: 'events[]', id: 'json:id', type: 'json:type' }) },
      processing,
    })
    addDestinations(inbox, { billing: { url: billing.url, secret, sources: ['shop'], allowPrivate, retry } })
    const parts = Array.from(
      { length: 20 },
      (_, i) => `{"id": "e${i}", "type":"t",  "note":"${'x'.repeat(500)}"}`,
    )
    const body = Buffer.from(`{"events": [${parts.join(' , ')}]}`)
    await inbox.receive('shop', {
      method: 'POST',
      url: 'http://localhost/webhooks/shop',
      headers: { 'content-type': 'application/x-list+json' },
      body,
    })
    // It takes four at a time, and postpones the others for a moment.
    await until(async () => {
      await inbox.drain()
      return billing.arrivals.length >= parts.length
    }, 'all are sent')
    expect(billing.arrivals.map((arrival) => arrival.body.toString()).sort()).toEqual(parts.toSorted())
    const sent = billing.arrivals.reduce((sum, arrival) => sum + arrival.body.byteLength, 0)
    expect(sent).toBeLessThan(body.byteLength)
    for (const { headers, body: own } of billing.arrivals) {
      expect(headers['content-type']).toBe('application/json')
      expect(() =>
        new Webhook(secret).verify(own.toString(), headers as Record<string, string>),
      ).not.toThrow()
      expect(headers['webhook-id']).toBe(JSON.parse(own.toString()).id)
    }
  })

  test('sends the bytes as they came, signed so that the standard library verifies them, and no header of the sender', async () => {
    const { inbox } = forwarding(bench, { billing: { headers: { authorization: 'Bearer t0ken' } } })
    const body = Buffer.from('{"id":"e1",  "type":"order.paid", "text":"\u00e9\u{1f600}", "n":1.0}')
    await inbox.receive('shop', {
      method: 'POST',
      url: 'http://localhost/webhooks/shop',
      headers: {
        'content-type': 'application/json; charset=utf-8',
        cookie: 'secret=1',
        'user-agent': 'sender',
        'x-request-id': 'r1',
      },
      body,
    })
    await inbox.drain()
    expect(await stateOf(inbox, 'e1', BILLING)).toBe('succeeded')
    const [arrival] = billing.arrivals
    expect(arrival!.body.equals(body)).toBe(true)
    expect(arrival).toMatchObject({ method: 'POST', path: '/hook?token=hidden' })
    const { headers } = arrival!
    expect(() =>
      new Webhook(secret).verify(arrival!.body.toString(), headers as Record<string, string>),
    ).not.toThrow()
    expect(headers).toMatchObject({
      'webhook-id': 'e1',
      'content-type': 'application/json; charset=utf-8',
      'hookonce-source': 'shop',
      'hookonce-type': 'order.paid',
      'hookonce-attempt': '1',
      'accept-encoding': 'identity',
      authorization: 'Bearer t0ken',
      host: `127.0.0.1:${billing.port}`,
      'user-agent': 'hookonce',
    })
    for (const name of ['cookie', 'x-request-id']) expect(headers).not.toHaveProperty(name)
  })

  test('with two secrets the receiver may hold either', async () => {
    const next = `whsec_${randomBytes(24).toString('base64')}`
    const { inbox } = forwarding(bench, { billing: { secret: () => [next, secret] } })
    await post(inbox, { id: 'e1' })
    await inbox.drain()
    const { body, headers } = billing.arrivals[0]!
    for (const one of [secret, next])
      expect(() => new Webhook(one).verify(body.toString(), headers as Record<string, string>)).not.toThrow()
  })

  test('an id that no header can hold becomes one that is as stable, and so does a type', async () => {
    const { inbox } = forwarding(bench, { billing: {} })
    billing.answer = (_arrival, response) =>
      void response.writeHead(billing.arrivals.length < 2 ? 500 : 200).end()
    await post(inbox, { id: 'caf\u00e9 1', type: 'bestellung.gro\u00df' })
    await inbox.start()
    await until(async () => (await stateOf(inbox, 'caf\u00e9 1', BILLING)) === 'succeeded', 'it was sent')
    const [first, second] = seen(billing)
    expect(first).toMatch(/^hookonce_[\w-]{43}$/)
    expect(second).toBe(first)
    expect(billing.arrivals[0]!.headers['hookonce-type']).toBe('bestellung.gro%C3%9F')
  })

  test('one destination fails: the other is not sent its event again', async () => {
    const { inbox } = forwarding(bench, { billing: {}, crm: { url: crm.url } })
    billing.answer = (_arrival, response) =>
      void response.writeHead(billing.arrivals.length < 3 ? 500 : 200).end()
    await inbox.start()
    await post(inbox, { id: 'e1' })
    await until(async () => (await stateOf(inbox, 'e1', BILLING)) === 'succeeded', 'it was sent at last')
    await until(async () => (await stateOf(inbox, 'e1', 'shop/crm')) === 'succeeded', 'the other has it')
    expect(billing.arrivals.map(({ headers }) => headers['hookonce-attempt'])).toEqual(['1', '2', '3'])
    expect(seen(crm)).toEqual(['e1'])
  })

  test('each gets what its types say, also where patterns overlap, and nothing of other sources', async () => {
    const { inbox } = forwarding(bench, {
      billing: { types: ['order.*', 'invoice.paid'] },
      crm: { url: crm.url, types: ['*'] },
      paid: { url: crm.url.replace('/hook', '/paid'), types: ['*.paid'] },
    })
    await post(inbox, { id: 'a', type: 'order.paid' })
    await post(inbox, { id: 'b', type: 'invoice.paid' })
    await post(inbox, { id: 'c', type: 'customer.new' })
    await post(inbox, { id: 'd', type: 'order.paid' }, 'other')
    await inbox.drain()
    expect(seen(billing).sort()).toEqual(['a', 'b'])
    const at = (path: string) =>
      crm.arrivals
        .filter((one) => one.path.startsWith(path))
        .map((one) => one.headers['webhook-id'])
        .sort()
    expect(at('/hook')).toEqual(['a', 'b', 'c'])
    expect(at('/paid')).toEqual(['a', 'b'])
    expect(await stateOf(inbox, 'd', 'other')).toBe('pending')
  })

  test('attempts used up: a dead letter that says what was answered, and neither the path nor the secret', async () => {
    const { inbox } = forwarding(bench, { billing: {} })
    billing.answer = status(503)
    await inbox.start()
    await post(inbox, { id: 'e1' })
    const dead = async () => (await inbox.events.stats()).some((one) => one.dead === 1)
    await until(dead, 'it is a dead letter')
    expect(billing.arrivals).toHaveLength(3)
    const { reason } = (await inbox.events.get({ source: BILLING, id: 'e1' }))!
    expect(reason).toContain('503')
    expect(reason).not.toMatch(/token|hidden|whsec/)
    billing.answer = status(200)
    await inbox.retry({ source: BILLING, id: 'e1' }, { actor: 'test', note: 'mended' })
    await until(async () => (await stateOf(inbox, 'e1', BILLING)) === 'succeeded', 'a retry sends it')
    await inbox.replay({ source: BILLING, id: 'e1' }, { actor: 'test', note: 'again', force: true })
    await until(() => billing.arrivals.length === 5, 'a replay sends it again')
    expect(new Set(seen(billing))).toEqual(new Set(['e1']))
  })

  test('410 ends the event and pauses the destination; what comes then waits', async () => {
    const { inbox, added } = forwarding(bench, { billing: { probeEvery: 60 } })
    billing.answer = status(410)
    await inbox.start()
    await post(inbox, { id: 'e1' })
    await until(async () => (await stateOf(inbox, 'e1', BILLING)) === 'failed', 'it is a dead letter')
    expect(await inbox.events.get({ source: BILLING, id: 'e1' })).toMatchObject({
      nextAttemptAt: null,
      attempts: 1,
    })
    expect(added.states()[0]).toMatchObject({
      paused: true,
      pauseReason: 'gone',
      pausedBy: 'hookonce',
      nextProbeAt: null,
      lastHttpStatus: 410,
    })
    await post(inbox, { id: 'e2' })
    await until(async () => (await stateOf(inbox, 'e2', BILLING)) === 'pending', 'e2 waits')
    const { audits } = await inbox.events.audits({ verb: 'pause' })
    expect(audits).toMatchObject([
      { actor: 'hookonce', source: BILLING, note: 'it answered 410, it is gone' },
    ])
    expect(billing.arrivals).toHaveLength(1)
    billing.answer = status(200)
    await added.resume('billing')
    await until(async () => (await stateOf(inbox, 'e2', BILLING)) === 'succeeded', 'resumed, it is sent')
    expect((await inbox.events.attempts({ source: BILLING, id: 'e2' })).length).toBe(1)
  })

  test('Retry-After quiets the endpoint for all its events, up to an hour', async () => {
    let now = 1_000_000
    const { inbox } = forwarding(bench, { billing: {} }, { now: () => now })
    billing.answer = status(429, { 'retry-after': '999999' })
    await post(inbox, { id: 'e1' })
    await inbox.drain()
    await post(inbox, { id: 'e2' })
    await inbox.drain()
    expect(seen(billing)).toEqual(['e1'])
    const due = async (eventId: string) => {
      const { nextAttemptAt, lastDeliveryAt } = (await inbox.events.get({ source: BILLING, id: eventId }))!
      return (nextAttemptAt ?? lastDeliveryAt) - lastDeliveryAt
    }
    expect(await due('e1')).toBeGreaterThan(3_500_000)
    expect(await due('e1')).toBeLessThan(3_700_000)
    expect(await inbox.events.get({ source: BILLING, id: 'e2' })).toMatchObject({
      state: 'pending',
      attempts: 0,
    })
    now += 3_600_001
    billing.answer = status(200)
    await inbox.process(BILLING, 'e2')
    expect(seen(billing)).toEqual(['e1', 'e2'])
  })

  test('sustained failure pauses it: events wait without using up attempts, a probe that succeeds ends the pause', async () => {
    const { inbox, added, lines } = forwarding(bench, {
      billing: {
        pauseAfter: { failures: 3, lasting: 0 },
        probeEvery: 40,
        retry: { ...quickRetry, maxAttempts: 2 },
      },
    })
    billing.answer = status(500)
    await post(inbox, { id: 'x0' })
    await post(inbox, { id: 'x1' })
    await inbox.start()
    await until(() => added.states()[0]!.paused, 'it is paused')
    for (const id of ids(5)) await post(inbox, { id })
    // Several probes fail meanwhile, more than there are attempts.
    await until(() => added.states()[0]!.failed >= 8, 'probes were made')
    for (const eventId of ids(5))
      expect(await inbox.events.attempts({ source: BILLING, id: eventId })).toEqual([])
    const page = readExposition(await metricsText(inbox))
    expect(page.value('hookonce_destination_paused', { destination: 'billing' })).toBe(1)
    expect(page.value('hookonce_destination_sends_total', { destination: 'billing', outcome: 'sent' })).toBe(
      0,
    )
    billing.answer = status(200)
    await until(
      async () =>
        (await Promise.all(ids(5).map((id) => stateOf(inbox, id, BILLING)))).every((s) => s === 'succeeded'),
      'all were sent',
    )
    for (const eventId of ids(5))
      expect(
        (await inbox.events.attempts({ source: BILLING, id: eventId })).map((one) => one.outcome),
      ).toEqual(['succeeded'])
    expect(added.states()[0]).toMatchObject({ paused: false, failuresInARow: 0 })
    expect(lines.filter((line) => line.destination === 'billing').map((line) => line.msg)).toEqual([
      'destination paused',
      'destination resumed',
    ])
  })

  test('an operator pauses and resumes one; the other of the same event is sent at once', async () => {
    const { inbox, added } = forwarding(bench, { billing: { probeEvery: 40 }, crm: { url: crm.url } })
    await added.pause('billing', { actor: 'ada' })
    await inbox.start()
    await post(inbox, { id: 'e1' })
    await until(() => crm.arrivals.length === 1, 'crm has it')
    await until(async () => (await stateOf(inbox, 'e1', BILLING)) === 'pending', 'billing waits')
    expect(billing.arrivals).toEqual([])
    expect(added.states()[0]).toMatchObject({ paused: true, pauseReason: 'operator', pausedBy: 'ada' })
    await added.resume('billing')
    expect(added.states()[0]).toMatchObject({ paused: false, pausedBy: null })
    await until(async () => (await stateOf(inbox, 'e1', BILLING)) === 'succeeded', 'both have it')
    expect([seen(billing), seen(crm)]).toEqual([['e1'], ['e1']])
    expect(await inbox.events.attempts({ source: BILLING, id: 'e1' })).toHaveLength(1)
  })

  test.each([
    ['', {}, 4],
    [' with a limit above the number of places', { concurrency: 100 }, 16],
  ])('a destination%s that does not answer does not hold up another one', async (_, own, most) => {
    const { inbox } = forwarding(bench, {
      billing: { timeout: 120_000, ...own },
      crm: { url: crm.url },
    })
    billing.answer = () => {}
    await inbox.start()
    for (const id of ids(150)) await post(inbox, { id })
    await until(() => new Set(seen(crm)).size === 150, 'the healthy one has all events')
    expect(crm.arrivals).toHaveLength(150)
    expect(billing.arrivals.length).toBeGreaterThan(0)
    expect(billing.arrivals.length).toBeLessThanOrEqual(most)
  })

  test('a destination that does not answer does not hold up a handler, nor a destination of another source', async () => {
    const { inbox } = forwarding(bench, {
      billing: { timeout: 120_000, concurrency: 100, types: ['a'] },
      crm: { url: crm.url, sources: ['other'] },
    })
    const handled: string[] = []
    inbox.on('shop', 'b', (event) => void handled.push(event.id))
    billing.answer = () => {}
    await inbox.start()
    for (const id of ids(100, 'slow')) await post(inbox, { id, type: 'a' })
    for (const id of ids(50, 'b')) await post(inbox, { id, type: 'b' })
    for (const id of ids(50)) await post(inbox, { id }, 'other')
    await until(() => handled.length === 50 && crm.arrivals.length === 50, 'both have all events')
  })

  test('a rate limit and a concurrency limit postpone what is over them, and nothing fails', async () => {
    const { inbox, added } = forwarding(bench, {
      billing: { ratePerSecond: 20, concurrency: 2, types: ['a', 'b'] },
    })
    let running = 0
    let most = 0
    billing.answer = (_arrival, response) => {
      most = Math.max(most, ++running)
      setTimeout(() => {
        running--
        response.writeHead(200).end()
      }, 15)
    }
    await Promise.all(ids(26).map((id, i) => post(inbox, { id, type: i % 2 ? 'a' : 'b' })))
    const startedAt = performance.now()
    await inbox.start()
    await until(
      async () => (await inbox.events.stats()).find(({ source }) => source === BILLING)?.succeeded === 26,
      'all were sent',
    )
    // 20 at once from a full bucket, 6 more at 20 a second.
    expect(performance.now() - startedAt).toBeGreaterThan(290)
    expect(most).toBeLessThanOrEqual(2)
    expect(seen(billing).sort()).toEqual(ids(26).sort())
    expect(added.states()[0]).toMatchObject({ sent: 26, failed: 0 })
    const { attempts } = wholeInbox(inbox).counters.of(BILLING)
    await until(() => attempts.succeeded === 26, 'all are counted')
    expect(attempts.failed).toBe(0)
  })

  test('a handler and a destination get the same event, and neither waits for the other', async () => {
    const { inbox } = forwarding(bench, { billing: {} })
    const handled: string[] = []
    inbox.on('shop', 'order.paid', (event) => void handled.push(event.id))
    billing.answer = status(500)
    await inbox.start()
    await post(inbox, { id: 'e1' })
    await until(async () => (await stateOf(inbox, 'e1')) === 'succeeded', 'the handler has it')
    await until(async () => (await stateOf(inbox, 'e1', BILLING)) === 'failed', 'the destination has failed')
    expect(handled).toEqual(['e1'])
  })

  test('a new destination gets the events of the log from where it says', async () => {
    const { inbox: before } = bench.inbox({ sources: { shop: shop() } })
    for (const id of ids(3)) await post(before, { id })
    await before.stop()
    const { inbox } = forwarding(bench, { billing: { from: 'start' }, crm: { url: crm.url } })
    await post(inbox, { id: 'new' })
    await inbox.drain()
    expect(seen(billing).sort()).toEqual([...ids(3), 'new'])
    expect(seen(crm)).toEqual(['new'])
  })

  test('a redirect is a failure, and nobody goes there', async () => {
    const { inbox } = forwarding(bench, { billing: {} })
    billing.answer = status(307, { location: `http://127.0.0.1:${crm.port}/` })
    await post(inbox, { id: 'e1' })
    await inbox.drain()
    expect(crm.connections()).toBe(0)
    const [attempt] = await inbox.events.attempts({ source: BILLING, id: 'e1' })
    expect(attempt).toMatchObject({ outcome: 'failed', detail: expect.stringContaining('307') })
  })
})

test('a destination that cannot work stops the start, and says why', () => {
  const make = (given: object, more: object = {}) => {
    const inbox = createInbox({ store: 'sqlite::memory:', sources: { shop: shop() }, log: silentLog })
    inbox.on('shop', 'taken', () => {}, { consumer: 'taken' })
    return () =>
      addDestinations(inbox, { billing: { url: 'https://example.com/', secret, ...given }, ...more } as never)
  }
  expect(make({})).not.toThrow()
  expect(make({ secret: 'whsec_' })).toThrow('The secret of destination "billing"')
  expect(make({ secret: 'whsec_c2hvcnQ=' })).toThrow('shorter than 16 bytes')
  expect(make({ secret: '' })).toThrow('missing')
  expect(make({ url: 'nonsense' })).toThrow('must be a whole URL')
  expect(make({ url: 'https://u:p@example.com/' })).toThrow('credentials')
  expect(make({ url: 'https://example.com:25/' })).toThrow('port 25')
  expect(make({ url: 'ftp://example.com/' })).toThrow('must begin with https: or http:')
  expect(make({ url: 'http://10.0.0.1/' })).toThrow('not a public address')
  expect(make({ sources: ['nowhere'] })).toThrow('name "nowhere", which is not configured')
  expect(make({}, { taken: { url: 'https://example.com/', secret } })).toThrow('the name of a consumer')
  expect(make({ from: 'yesterday' })).toThrow('destinations.billing.from')
  expect(make({ types: [] })).toThrow('event types')
  expect(make({ headers: { 'x-a': 'b\r\nc: d' } })).toThrow('line breaks')
  expect(make({ headers: { 'Webhook-Id': 'b' } })).toThrow('hookonce sets it')
  expect(make({ ratePerSecond: 0 })).toThrow('above 0')
  expect(make({ concurrency: 1.5 })).toThrow('whole number')
  expect(make({ allowPrivate: ['10.0.0.0/33'] })).toThrow('address range')
  expect(make({ retry: { firstDelay: -1 } })).toThrow('retry.firstDelay')
  expect(make({ retrys: {} })).toThrow('retrys is not an option; did you mean "retry"?')
  expect(make({}, { 'bad name': { url: 'https://example.com', secret } })).toThrow('letters, digits')
  expect(make({ url: 'https://example.com/?t=s3cret', secret: 'x' })).toThrow(/^(?!.*s3cret)/)
})
