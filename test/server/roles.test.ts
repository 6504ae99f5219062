/** Every route for every role and for those with none; and what a viewer must never see. */
import { createInbox, type Inbox, silentLog } from 'hookonce'
import { unverified } from 'hookonce/providers'
import { type Admin, type AdminOptions, admin } from 'hookonce/server'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { post } from '../support/processing.js'
import { roles, tokenOf, tokens } from './support.js'

// A plain word: what looks like a credential is masked before it gets anywhere.
const CANARY = 'kumquat'

/** Who may, written out by hand: the test of the table in the code. */
const all = ['viewer', 'operator', 'admin', 'worker']
const readers = ['viewer', 'operator', 'admin']
const operators = ['operator', 'admin']
const e = '/api/events/shop/e1'
const action = '/api/actions/6f0c1d5e-8f0e-4b4e-9b0a-0d6f5f1c2a3b'
const bulk = { verb: 'retry', filter: { source: 'shop', state: 'failed' }, dryRun: true }
const routes: [method: string, path: string, body: unknown, may: string[]][] = [
  ['GET', '/api/events', undefined, readers],
  ['GET', '/api/events?q=e1', undefined, readers],
  ['GET', '/api/events/count?state=failed', undefined, readers],
  ['GET', e, undefined, readers],
  ['GET', '/api/events/shop/failed', undefined, readers],
  ['GET', '/api/events/shop/failed/attempts', undefined, readers],
  ['GET', '/api/stats', undefined, readers],
  ['GET', '/api/sources', undefined, readers],
  ['GET', '/api/stream?after=0', undefined, readers],
  ['GET', `${e}/effects`, undefined, readers],
  ['GET', '/api/overview', undefined, readers],
  ['GET', '/api/attention', undefined, readers],
  ['GET', '/api/dead-letters', undefined, readers],
  ['GET', '/api/review', undefined, readers],
  ['GET', '/api/find?q=failed', undefined, readers],
  ['GET', '/api/facets', undefined, readers],
  ['GET', '/api/sources/shop', undefined, readers],
  ['GET', '/api/sources/shop/reconciles', undefined, readers],
  ['GET', '/api/handlers', undefined, readers],
  ['GET', '/api/pauses', undefined, readers],
  ['GET', '/api/destinations', undefined, readers],
  ['GET', '/api/workers', undefined, readers],
  ['GET', '/api/system', undefined, readers],
  ['GET', '/api/why?table=orders&key=1', undefined, ['admin']],
  ['GET', '/api/audits', undefined, operators],
  ['GET', `/api/events?reason=${CANARY}`, undefined, operators],
  ['GET', `/api/events/count?reasonLike=${CANARY}*`, undefined, operators],
  ['POST', `${e}/retry`, {}, operators],
  ['POST', `${e}/replay`, {}, operators],
  ['POST', `${e}/ignore`, { dryRun: true }, operators],
  ['POST', '/api/events/actions', bulk, operators],
  ['GET', action, undefined, operators],
  ['DELETE', action, undefined, operators],
  ['GET', '/api/actions', undefined, operators],
  ['GET', `/api/events?reasonLike=${CANARY}*`, undefined, operators],
  ['POST', '/api/sources/shop/test', {}, operators],
  ['POST', '/api/sources/shop/reconcile', {}, operators],
  ['POST', '/api/pause', { source: 'other' }, operators],
  ['POST', '/api/resume', { source: 'other' }, operators],
  ['POST', '/api/sources/shop/sample', {}, operators],
  ['POST', '/api/destinations/none/pause', {}, operators],
  ['POST', '/api/destinations/none/resume', {}, operators],
  ['GET', `${e}/conflict`, undefined, ['admin']],
  ['POST', `${e}/copies`, { body: 'e30=', note: 'x', dryRun: true }, ['admin']],
  ['GET', '/api/search?path=note&op=exists', undefined, ['admin']],
  ['GET', `${e}/payload`, undefined, ['admin']],
  ['HEAD', `${e}/payload`, undefined, ['admin']],
  ['POST', '/api/work/claim', { worker: 'w', sources: ['other'] }, ['admin', 'worker']],
  ['POST', '/api/work/extend', { leases: ['1.x'] }, ['admin', 'worker']],
  [
    'POST',
    '/api/work/settle',
    { settlements: [{ lease: '1.x', outcome: { kind: 'succeeded' } }] },
    ['admin', 'worker'],
  ],
  ['POST', '/api/work/release', { leases: ['1.x'] }, ['admin', 'worker']],
  ['GET', '/api/session', undefined, all],
]
const open: [string, string, unknown][] = [
  ['GET', '/api/openapi.json', undefined],
  ['POST', '/api/sessions', { token: tokenOf('viewer') }],
  ['DELETE', '/api/sessions', undefined],
]

let inbox: Inbox
let handler: Admin
let address = 0

beforeAll(async () => {
  const source = unverified({ id: 'json:id', type: 'json:type', reference: 'json:ref' })
  inbox = createInbox({ store: 'sqlite::memory:', sources: { shop: source, other: source }, log: silentLog })
  inbox.on('shop', 'order.failed', (event) => {
    throw new Error(`cannot handle ${(event.payload as { note: string }).note}`)
  })
  inbox.on('shop', 'order.odd', (event, ctx) =>
    ctx.ignore(`odd: ${(event.payload as { note: string }).note}`),
  )
  for (const [id, type] of [
    ['e1', 'order.paid'],
    ['failed', 'order.failed'],
    ['odd', 'order.odd'],
  ] as const) {
    await inbox.receive('shop', {
      method: 'POST',
      url: 'http://h/webhooks/shop',
      headers: { 'content-type': `text/plain; note=${CANARY}`, 'user-agent': CANARY },
      body: Buffer.from(JSON.stringify({ id, type, note: CANARY })),
    })
  }
  await inbox.process('shop', 'failed')
  await inbox.process('shop', 'odd')
})
afterEach(() => handler.close())
afterAll(() => inbox.stop())

/** From an address of its own: wrong tokens are counted by address. */
async function call(
  method: string,
  path: string,
  body: unknown,
  token: string | null,
): Promise<[number, string]> {
  const response = await handler.fetch(
    new Request(`http://localhost${path}`, {
      method,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
    { address: `10.0.${address >> 8}.${address++ & 255}` },
  )
  return [response.status, await bodyOf(response)]
}

/** A stream has no end: its first parts are enough. */
async function bodyOf(response: Response): Promise<string> {
  if (response.headers.get('content-type') !== 'text/event-stream') return response.text()
  const reader = response.body!.getReader()
  let text = ''
  while (!text.includes('event: stats')) text += Buffer.from((await reader.read()).value!).toString()
  await reader.cancel()
  return text
}

function start(options: AdminOptions = {}): void {
  handler = admin(inbox, { tokens, ...options })
}

describe('every route and every role', () => {
  test('the table names every operation there is', async () => {
    start()
    const [, text] = await call('GET', '/api/openapi.json', undefined, null)
    const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, unknown>> }
    const said = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    const tried = [...routes, ...open].map(
      ([method, path]) =>
        `${method} ${path
          .split('?')[0]!
          .replace(/\/api\/events\/shop\/\w+/, '/api/events/{source}/{id}')
          .replace('/sources/shop', '/sources/{source}')
          .replace('/destinations/none', '/destinations/{name}')
          .replace(/actions\/6f.*/, 'actions/{id}')}`,
    )
    expect(said.filter((operation) => !tried.includes(operation))).toEqual([])
  })

  test.each(routes)('%s %s', async (method, path, body, may) => {
    start()
    const found: Record<string, number> = {}
    for (const role of roles) {
      const [status, text] = await call(method, path, body, tokenOf(role))
      found[role] = status === 401 || status === 403 ? status : 200
      if (role === 'viewer') expect(text).not.toContain(CANARY)
    }
    for (const [who, token] of [
      ['none', null],
      ['wrong', 'nobody-knows-this-token'],
      ['expired', 'token-that-is-over'],
    ] as const) {
      const [status, text] = await call(method, path, body, token)
      found[who] = status
      expect(text).not.toContain(CANARY)
    }
    expect(found).toEqual({
      ...Object.fromEntries(all.map((role) => [role, may.includes(role) ? 200 : 403])),
      none: 401,
      wrong: 401,
      expired: 401,
    })
  })

  test.each(open)('%s %s is for anyone', async (method, path, body) => {
    start()
    expect((await call(method, path, body, null))[0]).toBeLessThan(300)
  })
})

describe('what a payload says', () => {
  test('is in no answer to a viewer, and in those to an admin', async () => {
    start()
    const reads = routes.filter(([method, path]) => method === 'GET' && !path.includes(CANARY))
    const seen: string[] = []
    for (const [method, path] of reads) {
      const [, viewers] = await call(method, path, undefined, tokenOf('viewer'))
      expect([path, viewers.includes(CANARY)]).toEqual([path, false])
      const [, admins] = await call(method, path, undefined, tokenOf('admin'))
      if (admins.includes(CANARY)) seen.push(path)
    }
    // Errors and reasons quote it here: the test would notice if they were shown.
    expect(seen).toEqual([
      '/api/events',
      '/api/events/shop/failed',
      '/api/events/shop/failed/attempts',
      '/api/stream?after=0',
      '/api/find?q=failed',
      '/api/search?path=note&op=exists',
      `${e}/payload`,
    ])
  })

  test('a viewer sees neither the error of an attempt nor the line of code that threw', async () => {
    start()
    const attemptOf = async (role: 'viewer' | 'operator') => {
      const [, text] = await call('GET', '/api/events/shop/failed/attempts', undefined, tokenOf(role))
      return (JSON.parse(text) as { attempts: object[] }).attempts
    }
    expect(await attemptOf('viewer')).toMatchObject([{ outcome: 'failed', detail: null, place: null }])
    const place = expect.stringMatching(/^at .*roles\.test\.ts:\d+/)
    expect(await attemptOf('operator')).toMatchObject([{ detail: `cannot handle ${CANARY}`, place }])
  })

  test('a viewer cannot ask for it by its error either', async () => {
    start()
    const reason = encodeURIComponent(`cannot handle ${CANARY}`)
    expect((await call('GET', `/api/events?reason=${reason}`, undefined, tokenOf('viewer')))[0]).toBe(403)
    const [status, text] = await call('GET', `/api/events?reason=${reason}`, undefined, tokenOf('operator'))
    expect([status, (JSON.parse(text) as { events: unknown[] }).events.length]).toEqual([200, 1])
    expect((await call('GET', '/api/events?reason=unhandled', undefined, tokenOf('viewer')))[0]).toBe(200)
  })

  test('is given to a worker with its claim, and nothing else is', async () => {
    start()
    await post(inbox, { id: 'w1', note: CANARY }, 'other')
    const [, text] = await call(
      'POST',
      '/api/work/claim',
      { worker: 'w', sources: ['other'] },
      tokenOf('worker'),
    )
    const { events } = JSON.parse(text) as { events: { body: string }[] }
    expect(Buffer.from(events[0]!.body, 'base64').toString()).toContain(CANARY)
  })
})

describe('ways in', () => {
  test('an inbox with no way in does not start', () => {
    start({})
    expect(() => admin(inbox)).toThrow(/needs `tokens` or `authorize`/)
    expect(() => admin(inbox, { tokens: [{ name: 'a', role: 'admin', sha256: 'abc' }] })).toThrow(
      /64 hex digits/,
    )
    expect(() =>
      admin(inbox, { tokens: [{ name: 'a', role: 'root' as never, sha256: '0'.repeat(64) }] }),
    ).toThrow(/must be "viewer" or "operator"/)
    expect(() =>
      admin(inbox, { tokens: [{ name: 'a', role: 'admin', sha256: '0'.repeat(64), expiresAt: 'soon' }] }),
    ).toThrow(/ISO 8601/)
    expect(() => admin(inbox, { basePath: 'admin/' })).toThrow(/basePath/)
  })

  test("authorize: the application's own people, and tokens beside them", async () => {
    start({
      authorize: (request) =>
        request.headers.get('x-user') === null
          ? null
          : { actor: request.headers.get('x-user')!, role: 'operator' },
    })
    const own = await handler.fetch(
      new Request('http://localhost/api/session', { headers: { 'x-user': 'ann' } }),
    )
    expect(await own.json()).toMatchObject({ actor: 'ann', role: 'operator', by: 'application' })
    expect((await call('GET', '/api/stats', undefined, tokenOf('viewer')))[0]).toBe(200)
    // The application's credential may be a cookie: what changes something must come from its own pages.
    const change = (headers: Record<string, string>) =>
      handler.fetch(
        new Request(`http://localhost${e}/ignore`, {
          method: 'POST',
          headers: { 'x-user': 'ann', ...headers },
        }),
      )
    expect((await change({})).status).toBe(403)
    expect((await change({ 'sec-fetch-site': 'same-origin' })).status).toBe(200)
  })
})
