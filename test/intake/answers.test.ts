/** Every answer of intake, on both stores, with real providers. */

import { createInbox, type Delivery, type Inbox, type Store } from 'hookonce'
import { github, slack, standardWebhooks, stripe, unverified } from 'hookonce/providers'
import { describe, expect, test } from 'vitest'
import { wholeInbox } from '#dist/inbox/internals.js'
import { loggedInbox, onBothStores, secretOf } from '../support/inboxes.js'

const sources = () => ({
  stripe: stripe({ secret: secretOf('stripe') }),
  strict: stripe({ secret: secretOf('strict'), conflict: 'reject' }),
  github: github({ secret: secretOf('github'), contentGuard: 'review' }),
  slack: slack({ secret: secretOf('slack') }),
})
type Name = keyof ReturnType<typeof sources>

async function signed(inbox: Inbox, name: Name, body?: object, id?: string): Promise<Delivery> {
  const source = wholeInbox(inbox).sources.get(name)!
  const sample = source.sample({ now: Date.now(), ...(id === undefined ? {} : { id }) })
  return source.sign(body === undefined ? sample : { ...sample, body: JSON.stringify(body) })
}

onBothStores((stores) => {
  const open = () => loggedInbox({ store: stores.open(), sources: sources() })
  let n = 0
  const event = (more: object = {}) => ({ id: `evt_${++n}_${process.pid}`, type: 'invoice.paid', ...more })

  test('a new event is accepted, its duplicate is known, and after it has finished it is processed', async () => {
    const store = stores.open()
    const inbox = createInbox({ store, sources: sources() })
    const body = event()
    const delivery = await signed(inbox, 'stripe', body)
    const first = await inbox.receive('stripe', delivery)
    expect([first.httpStatus, JSON.parse(first.body)]).toEqual([
      200,
      { status: 'accepted', event_id: body.id, duplicate: false },
    ])
    const second = await inbox.receive('stripe', delivery)
    expect([second.httpStatus, JSON.parse(second.body)]).toEqual([
      200,
      { status: 'already_received', event_id: body.id, duplicate: true },
    ])
    const [claimed] = await store.claim({
      worker: 'w',
      limit: 1,
      leaseMs: 10_000,
      event: { source: 'stripe', id: body.id },
    })
    expect(JSON.parse((await inbox.receive('stripe', delivery)).body).status).toBe('already_received')
    await store.settle([{ lease: claimed!.lease, outcome: { kind: 'succeeded' }, durationMs: 1 }])
    const third = await inbox.receive('stripe', delivery)
    expect([third.httpStatus, JSON.parse(third.body)]).toEqual([
      200,
      { status: 'already_processed', event_id: body.id, duplicate: true },
    ])
    const found = await inbox.events.get({ source: 'stripe', id: body.id })
    expect(found).toMatchObject({ state: 'succeeded', deliveries: 4, conflicts: 0 })
  })

  test('a bad, missing or stale signature is 401 and writes nothing', async () => {
    const { inbox, lines } = open()
    const body = event()
    const good = await signed(inbox, 'stripe', body)
    const source = wholeInbox(inbox).sources.get('stripe')!
    const stale = await source.sign({ body: JSON.stringify(body), now: Date.now() - 3_600_000 })
    const bad = { ...good, body: Buffer.from(JSON.stringify({ ...body, amount: 1 })) }
    const { 'stripe-signature': _, ...unsigned } = good.headers
    for (const delivery of [bad, { ...good, headers: unsigned }, stale]) {
      const receipt = await inbox.receive('stripe', delivery)
      expect([receipt.httpStatus, receipt.body]).toEqual([401, '{"status":"rejected"}'])
    }
    expect(wholeInbox(inbox).counters.of('stripe').rejected).toEqual({
      bad_signature: 1,
      missing_signature: 1,
      stale_timestamp: 1,
    })
    expect(lines.map((line) => line.reason)).toEqual([
      'bad_signature',
      'missing_signature',
      'stale_timestamp',
    ])
    expect(await inbox.events.get({ source: 'stripe', id: body.id })).toBeNull()
  })

  const oddBodies = [
    '{"type":"x"}',
    'not json',
    '{"id":"a","id":"b","type":"x"}',
    `{"id":"${'x'.repeat(300)}","type":"x"}`,
    '{"id":"a\\u0000b","type":"x"}',
    '{"id":"a\\ud800","type":"x"}',
    '',
  ]

  test('a signed delivery without a usable id is recorded once under a name made of its content', async () => {
    const { inbox } = open()
    const source = wholeInbox(inbox).sources.get('stripe')!
    const now = Date.now()
    const ids = new Set<string>()
    for (const body of oddBodies) {
      const delivery = await source.sign({ body, now })
      const receipt = await inbox.receive('stripe', delivery)
      expect([body.slice(0, 30), receipt.httpStatus, receipt.status]).toEqual([
        body.slice(0, 30),
        200,
        'accepted',
      ])
      expect(receipt.eventId).toMatch(/^sha256:[0-9a-f]{64}$/)
      expect((await inbox.receive('stripe', delivery)).status).toBe('already_received')
      ids.add(receipt.eventId!)
    }
    expect(ids.size).toBe(oddBodies.length)
  })

  test('without a signature over the content, the same bodies are 400', async () => {
    const inbox = createInbox({ store: stores.open(), sources: { plain: unverified({ id: 'json:id' }) } })
    for (const body of oddBodies) {
      const receipt = await inbox.receive('plain', {
        method: 'POST',
        url: 'http://localhost/webhooks/plain',
        headers: {},
        body: Buffer.from(body),
      })
      expect([body.slice(0, 30), receipt.httpStatus, receipt.body]).toEqual([
        body.slice(0, 30),
        400,
        '{"status":"invalid"}',
      ])
    }
  })

  test('an unknown source is 404, another method 405, too large a body 413, too many headers 431, an encoded body 415', async () => {
    const { inbox } = open()
    const delivery = await signed(inbox, 'stripe', event())
    const headers = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`x-${i}`, 'y']))
    const cases: [string, Delivery, number][] = [
      ['nobody', delivery, 404],
      ['__proto__', delivery, 404],
      ['stripe', { ...delivery, method: 'PUT' }, 405],
      ['stripe', { ...delivery, method: 'GET' }, 405],
      ['stripe', { ...delivery, body: new Uint8Array(1024 * 1024 + 1) }, 413],
      ['stripe', { ...delivery, headers: { ...delivery.headers, ...headers } }, 431],
      ['stripe', { ...delivery, headers: { ...delivery.headers, 'content-encoding': 'gzip' } }, 415],
    ]
    for (const [name, sent, status] of cases) {
      const receipt = await inbox.receive(name, sent)
      expect([name, sent.method, receipt.httpStatus, receipt.body]).toEqual([
        name,
        sent.method,
        status,
        '{"status":"rejected"}',
      ])
    }
  })

  test('a numeric id keeps every digit, so two ids beyond 2^53 stay two events', async () => {
    const inbox = createInbox({
      store: stores.open(),
      sources: { plain: unverified({ id: 'json:id', type: 'json:type' }) },
      log: { debug() {}, info() {}, warn() {}, error() {} },
    })
    const send = (id: string) =>
      inbox.receive('plain', {
        method: 'POST',
        url: 'http://h/',
        headers: {},
        body: Buffer.from(`{"id":${id},"type":"t"}`),
      })
    const ids = ['9007199254740992', '9007199254740993', '18446744073709551615'].map(
      (id) => `${id}${process.pid}`,
    )
    for (const id of ids) expect(await send(id)).toMatchObject({ eventId: id, duplicate: false })
    for (const id of ids) expect(await send(id)).toMatchObject({ eventId: id, duplicate: true })
  })

  test('the same id with other bytes: the first stays, the conflict is recorded, the answer follows the policy', async () => {
    const { inbox, lines } = open()
    const body = event({ amount: 1 })
    for (const name of ['stripe', 'strict'] as const) {
      const first = await signed(inbox, name, body)
      await inbox.receive(name, first)
      const receipt = await inbox.receive(name, await signed(inbox, name, { ...body, amount: 2 }))
      expect([name, receipt.httpStatus, receipt.status]).toEqual(
        name === 'strict' ? [name, 409, 'conflict'] : [name, 200, 'already_received'],
      )
      expect(lines.at(-1)).toMatchObject({ reason: 'conflict' })
      const found = await inbox.events.get({ source: name, id: body.id })
      expect(found).toMatchObject({ conflicts: 1, deliveries: 2 })
      expect(found!.lastConflict!.hash).not.toBe(found!.contentHash)
      expect(Buffer.from((await inbox.events.payload({ source: name, id: body.id }))!.body)).toEqual(
        Buffer.from(first.body),
      )
    }
  })

  test('contentGuard review: known signed bytes under 100 new ids are one event to handle; the rest are on the review list', async () => {
    const store = stores.open()
    const { inbox } = loggedInbox({ store, sources: sources() })
    const delivery = await signed(inbox, 'github', { zen: `once ${++n}` }, `first-${n}`)
    expect(await inbox.receive('github', delivery)).toMatchObject({ httpStatus: 200, status: 'accepted' })
    for (let i = 0; i < 100; i++) {
      const again = { ...delivery, headers: { ...delivery.headers, 'x-github-delivery': `forged-${n}-${i}` } }
      expect(await inbox.receive('github', again)).toMatchObject({ httpStatus: 200, duplicate: false })
    }
    const forged = await inbox.events.list(
      { source: 'github', state: 'ignored', reason: 'replayed_content' },
      { limit: 500 },
    )
    expect(forged.events.filter((e) => e.id.startsWith(`forged-${n}-`))).toHaveLength(100)
    const claimed = await store.claim({ worker: 'w', limit: 200, leaseMs: 10_000, sources: ['github'] })
    expect(claimed.map((e) => e.id)).toEqual([`first-${n}`])
  })

  test('the content guard can also reject, or accept', async () => {
    const guarded = (contentGuard: 'reject' | 'accept') =>
      github({ secret: secretOf('github'), contentGuard })
    const inbox = createInbox({
      store: stores.open(),
      sources: { rejecting: guarded('reject'), accepting: guarded('accept') },
      log: { debug() {}, info() {}, warn() {}, error() {} },
    })
    for (const [name, status] of [
      ['rejecting', 409],
      ['accepting', 200],
    ] as const) {
      const source = wholeInbox(inbox).sources.get(name)!
      const first = await source.sign({
        ...source.sample({ now: Date.now(), id: `one-${n}` }),
        body: `{"zen":"${n}"}`,
      })
      expect((await inbox.receive(name, first)).httpStatus).toBe(200)
      const replayed = { ...first, headers: { ...first.headers, 'x-github-delivery': `two-${n}` } }
      expect((await inbox.receive(name, replayed)).httpStatus).toBe(status)
      expect((await inbox.receive(name, first)).duplicate).toBe(true)
      const second = await inbox.events.get({ source: name, id: `two-${n}` })
      expect([second?.state, second?.sameAs]).toEqual(
        status === 200 ? ['pending', `one-${n}`] : [undefined, undefined],
      )
    }
  })

  test('a handshake is answered and stores nothing', async () => {
    const { inbox } = open()
    const source = wholeInbox(inbox).sources.get('slack')!
    const body = JSON.stringify({ token: 'x', challenge: 'abc123', type: 'url_verification' })
    const receipt = await inbox.receive('slack', await source.sign({ body, now: Date.now() }))
    expect([receipt.httpStatus, receipt.status]).toEqual([200, 'handshake'])
    expect(receipt.body).toContain('abc123')
    expect((await inbox.events.list({ source: 'slack' })).events).toEqual([])
  })

  test('one delivery with several events records each, keeps its bytes once, and answers for all', async () => {
    const inbox = createInbox({
      store: stores.open(),
      // The guard is on: events of one delivery share its bytes and are not replays of each other.
      sources: {
        batch: unverified({ each: 'events[]', id: 'json:id', type: 'json:type', contentGuard: 'review' }),
      },
      log: { debug() {}, info() {}, warn() {}, error() {} },
    })
    const send = (...ids: string[]) =>
      inbox.receive('batch', {
        method: 'POST',
        url: 'http://h/',
        headers: {},
        body: Buffer.from(JSON.stringify({ events: ids.map((id) => ({ id, type: 't' })) })),
      })
    const [a, b, c] = ['a', 'b', 'c'].map((name) => `${name}${process.pid}`) as [string, string, string]
    expect(JSON.parse((await send(a, b)).body)).toEqual({
      status: 'accepted',
      event_id: a,
      duplicate: false,
      events: [
        { event_id: a, duplicate: false },
        { event_id: b, duplicate: false },
      ],
    })
    expect(JSON.parse((await send(b, c)).body)).toMatchObject({
      duplicate: false,
      events: [
        { event_id: b, duplicate: true },
        { event_id: c, duplicate: false },
      ],
    })
    expect(await send(a, b, c)).toMatchObject({ duplicate: true, status: 'already_received' })
    const recorded = (await inbox.events.list({ source: 'batch' })).events
    expect(recorded.map((e) => e.state)).toEqual(['pending', 'pending', 'pending'])
  })

  test('an outage of the store is 503 with Retry-After, and the sender finds the event new afterwards', async () => {
    const store = stores.open()
    let down = false
    const flaky: Store = {
      ...store,
      record: (deliveries) => (down ? Promise.reject(new Error('x')) : store.record(deliveries)),
    }
    const { inbox } = loggedInbox({ store: flaky, sources: sources() })
    await inbox.start()
    const delivery = await signed(inbox, 'stripe', event())
    down = true
    expect(await inbox.receive('stripe', delivery)).toMatchObject({
      httpStatus: 503,
      status: 'unavailable',
      headers: { 'retry-after': '5' },
    })
    down = false
    expect(await inbox.receive('stripe', delivery)).toMatchObject({ httpStatus: 200, duplicate: false })
  })
})

describe('what does not start', () => {
  test.each([
    ['an empty secret', () => stripe({ secret: '' })],
    ['a blank secret', () => stripe({ secret: '   ' })],
    ['a secret list with an empty one', () => stripe({ secret: [secretOf('a'), ''] })],
    ['a prefix alone', () => standardWebhooks({ secret: 'whsec_' })],
    [
      'a source that is not one',
      () => createInbox({ store: 'sqlite::memory:', sources: { x: {} as never } }),
    ],
    [
      'a source name with a slash',
      () => createInbox({ store: 'sqlite::memory:', sources: { 'a/b': stripe({ secret: secretOf('a') }) } }),
    ],
    [
      'a limit that is no number',
      () => createInbox({ store: 'sqlite::memory:', sources: {}, limits: { bodyBytes: Number.NaN } }),
    ],
    [
      'a limit that does not exist',
      () => createInbox({ store: 'sqlite::memory:', sources: {}, limits: { bodybytes: 1 } as never }),
    ],
  ])('%s', (_name, start) => {
    expect(start).toThrow(/must be|secret|bytes/)
  })

  test('an unverified source starts, with a warning', () => {
    const { lines } = loggedInbox({
      store: 'sqlite::memory:',
      sources: { open: unverified({ id: 'json:id', type: 'json:type' }) },
    })
    expect(lines).toEqual([expect.objectContaining({ level: 'warn', source: 'open' })])
  })

  test('a store URL that is not understood', async () => {
    const inbox = createInbox({ store: 'mysql://root:hunter2@h/db', sources: {} })
    await expect(inbox.start()).rejects.toMatchObject({ code: 'STORE_URL' })
    await expect(inbox.start()).rejects.not.toThrow(/hunter2/)
  })
})
