/** One contract for every adapter, over real HTTP (Next.js by its route handlers). */

import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { serve } from '@hono/node-server'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { createInbox, type Delivery, type Inbox, reply } from 'hookonce'
import { expressHandler } from 'hookonce/express'
import { fastifyPlugin } from 'hookonce/fastify'
import { fetchHandler } from 'hookonce/fetch'
import { honoHandler } from 'hookonce/hono'
import { nextRoute } from 'hookonce/next'
import { nodeHandler } from 'hookonce/node'
import { dropbox, stripe } from 'hookonce/providers'
import { afterEach, describe, expect, test } from 'vitest'
import { wholeInbox } from '#dist/inbox/internals.js'
import { loggedInbox, secretOf } from '../support/inboxes.js'

interface Running {
  readonly url: string
  stop(): Promise<unknown>
}

const adapters: Record<string, (inbox: Inbox) => Promise<Running>> = {
  node: (inbox) => listen(createServer(nodeHandler(inbox))),
  express: (inbox) => {
    const app = express()
    app.use(expressHandler(inbox))
    app.use(express.json())
    app.post('/other', (request, response) => void response.json(request.body))
    return listen(createServer(app))
  },
  async fastify(inbox) {
    const app = fastify()
    await app.register(fastifyPlugin(inbox))
    app.post('/other', async (request) => request.body)
    await app.listen({ port: 0, host: '127.0.0.1' })
    return { url: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`, stop: () => app.close() }
  },
  hono: (inbox) => served(new Hono().all('/webhooks/:source', honoHandler(inbox)).fetch),
  fetch: (inbox) => served(fetchHandler(inbox)),
  next: (inbox) => {
    const { GET, POST } = nextRoute(inbox)
    return served((request) => {
      const source = new URL(request.url).pathname.split('/').at(-1)!
      return (request.method === 'GET' ? GET : POST)(request, { params: Promise.resolve({ source }) })
    })
  },
}

function listen(server: Server): Promise<Running> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      resolve({ url, stop: () => new Promise((done) => server.close(done).closeAllConnections()) })
    })
  })
}

function served(fetch: (request: Request) => Response | Promise<Response>): Promise<Running> {
  return new Promise((resolve) => {
    const server = serve({ fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => {
      resolve({ url: `http://127.0.0.1:${port}`, stop: () => new Promise((done) => server.close(done)) })
    })
  })
}

/** The status a sender gets who announces a body and sends nothing of it yet. */
function announce(url: string, bytes: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.write(`POST /webhooks/stripe HTTP/1.1\r\nhost: h\r\ncontent-length: ${bytes}\r\n\r\n`)
    socket.once('data', (chunk) => {
      resolve(chunk.toString('latin1').slice(9, 12))
      socket.destroy()
    })
    socket.once('error', reject)
  })
}

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function start(
  adapter: (inbox: Inbox) => Promise<Running>,
  limits = {},
  mode: 'background' | 'inline' = 'background',
) {
  const sources = {
    stripe: stripe({ secret: secretOf('stripe'), mode }),
    dropbox: dropbox({ secret: secretOf('dropbox') }),
  }
  const { inbox, lines } = loggedInbox({ store: 'sqlite::memory:', sources, limits })
  await inbox.start()
  const running = await adapter(inbox)
  cleanups.push(
    () => inbox.stop(),
    () => running.stop(),
  )
  const post = (delivery: Pick<Delivery, 'headers' | 'body'>, path = '/webhooks/stripe') =>
    fetch(`${running.url}${path}`, {
      method: 'POST',
      headers: delivery.headers,
      body: delivery.body,
    })
  return { ...running, inbox, lines, post, source: sources.stripe }
}

describe.each(Object.entries(adapters))('%s', (_name, adapter) => {
  test('records the bytes as they were sent, whatever the content type says', async () => {
    const { post, source, inbox } = await start(adapter)
    for (const type of [
      'application/json',
      'application/x-www-form-urlencoded',
      'text/plain',
      'application/octet-stream',
    ]) {
      const id = `evt_${type.length}`
      // A BOM, odd spacing and bytes that are not UTF-8: a parser in between would change them.
      const body = Buffer.concat([
        Buffer.from(`\ufeff{"id" : "${id}",  "type":"t","note":"`),
        Buffer.from([0xff, 0xfe]),
        Buffer.from('"}\n'),
      ])
      const delivery = await source.sign({ body, now: Date.now(), headers: { 'content-type': type } })
      const response = await post({ ...delivery, headers: { ...delivery.headers, 'content-type': type } })
      expect([type, response.status, await response.json()]).toEqual([
        type,
        200,
        { status: 'accepted', event_id: id, duplicate: false },
      ])
      const stored = await inbox.events.payload({ source: 'stripe', id: id })
      expect(Buffer.from(stored!.body).equals(body)).toBe(true)
      expect(stored!.headers['content-type']).toContain(type)
    }
  })

  test('sends the reply of a handler as it is, also to a duplicate', async () => {
    const { post, source, inbox } = await start(adapter, {}, 'inline')
    const bytes = Uint8Array.from({ length: 256 }, (_, i) => i)
    inbox.on('stripe', '*', ({ id }) =>
      id === 'empty'
        ? reply('', { status: 204, headers: { 'x-one': 'a' } })
        : reply(bytes, { status: 422, headers: { 'content-type': 'image/x', 'x-one': 'a, b' } }),
    )
    const ask = async (id: string) =>
      post(await source.sign({ body: JSON.stringify({ id, type: 't' }), now: Date.now() }))
    for (const _ of ['first', 'again']) {
      const answer = await ask('full')
      expect([answer.status, answer.headers.get('content-type'), answer.headers.get('x-one')]).toEqual([
        ...[422, 'image/x', 'a, b'],
      ])
      expect([...new Uint8Array(await answer.arrayBuffer())]).toEqual([...bytes])
      const empty = await ask('empty')
      expect([empty.status, empty.headers.get('x-one'), await empty.text()]).toEqual([204, 'a', ''])
    }
  })

  test('answers a duplicate, a bad signature, an unknown source and another path', async () => {
    const { post, source } = await start(adapter)
    const delivery = await source.sign(source.sample({ now: Date.now() }))
    expect((await post(delivery)).status).toBe(200)
    expect(await (await post(delivery)).json()).toMatchObject({ status: 'already_received', duplicate: true })
    expect((await post({ ...delivery, body: Buffer.from('{}') })).status).toBe(401)
    expect((await post(delivery, '/webhooks/nobody')).status).toBe(404)
    expect((await post(delivery, '/elsewhere')).status).toBe(404)
  })

  test('counts and logs what it turns away itself', async () => {
    const { url, inbox, lines } = await start(adapter, { bodyBytes: 10_000, bodyTimeout: 300 })
    expect(await announce(url, 20_000)).toBe('413')
    expect(await announce(url, 10)).toBe('408')
    const { received, rejected } = wholeInbox(inbox).counters.of('stripe')
    expect([received, { ...rejected }]).toEqual([2, { body_too_large: 1, timeout: 1 }])
    const refusals = lines.filter(({ reason }) => reason !== undefined)
    expect(refusals.map(({ level, source, reason }) => [level, source, reason])).toEqual([
      ['warn', 'stripe', 'body_too_large'],
      ['warn', 'stripe', 'timeout'],
    ])
  })

  test('counts a sender that leaves before its body is here', async () => {
    const { url, inbox } = await start(adapter)
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.write(
      'POST /webhooks/stripe HTTP/1.1\r\nhost: h\r\nexpect: 100-continue\r\ncontent-length: 10\r\n\r\nhalf',
    )
    await once(socket, 'data') // 100 Continue: the request is being read
    socket.destroy()
    await expect.poll(() => wholeInbox(inbox).counters.of('stripe').rejected.aborted).toBe(1)
  })

  test('answers a handshake by GET', async () => {
    const { url } = await start(adapter)
    const response = await fetch(`${url}/webhooks/dropbox?challenge=abc`)
    expect([response.status, await response.text()]).toEqual([200, 'abc'])
  })

  test('cuts a body at the limit, announced or not', async () => {
    const { url, inbox } = await start(adapter, { bodyBytes: 10_000 })
    expect(await announce(url, 20_000)).toBe('413')
    let sent = 0
    const endless = new ReadableStream({
      pull(controller) {
        sent += 5_000
        controller.enqueue(new Uint8Array(5_000))
        return new Promise((resolve) => setTimeout(resolve, 5))
      },
    })
    const chunked = await fetch(`${url}/webhooks/stripe`, {
      method: 'POST',
      body: endless,
      duplex: 'half',
    } as RequestInit).catch(() => null)
    // The sender may see the connection close before it reads the answer; what was taken from it is what counts.
    if (chunked) expect(chunked.status).toBe(413)
    expect(sent).toBeLessThan(2_000_000)
    expect((await inbox.events.stats()).length).toBe(0)
  })

  test('64 deliveries of one event at once: one row, 64 answers, one of them says it is new', async () => {
    const { post, source, inbox } = await start(adapter)
    const delivery = await source.sign(source.sample({ now: Date.now(), id: 'evt_64' }))
    const answers = await Promise.all(
      Array.from({ length: 64 }, async () => {
        const response = await post(delivery)
        return { httpStatus: response.status, ...((await response.json()) as { duplicate: boolean }) }
      }),
    )
    expect(answers.every((answer) => answer.httpStatus === 200)).toBe(true)
    expect(answers.filter((answer) => !answer.duplicate)).toHaveLength(1)
    expect(await inbox.events.get({ source: 'stripe', id: 'evt_64' })).toMatchObject({ deliveries: 64 })
  })
})

describe('a body parser that ran first', () => {
  test('is named, with the line to move, and the sender is told to come back', async () => {
    const { post, lines, source, inbox } = await start((inbox) => {
      const app = express()
      app.use(express.json())
      app.use(expressHandler(inbox))
      return listen(createServer(app))
    })
    const delivery = await source.sign(source.sample({ now: Date.now() }))
    expect(
      (await post({ ...delivery, headers: { ...delivery.headers, 'content-type': 'application/json' } }))
        .status,
    ).toBe(500)
    expect(lines.at(-1)).toMatchObject({ level: 'error', code: 'BODY_CONSUMED' })
    expect(lines.at(-1)!.msg).toContain('app.use(express.json())')
    const { received, rejected } = wholeInbox(inbox).counters.of('stripe')
    expect([received, { ...rejected }]).toEqual([1, { BODY_CONSUMED: 1 }])
  })

  test('is fine when it kept the bytes', async () => {
    const { post, source } = await start((inbox) => {
      const app = express()
      app.use(express.raw({ type: '*/*' }))
      app.use(expressHandler(inbox))
      return listen(createServer(app))
    })
    const delivery = await source.sign(source.sample({ now: Date.now() }))
    expect(
      (await post({ ...delivery, headers: { ...delivery.headers, 'content-type': 'application/json' } }))
        .status,
    ).toBe(200)
  })

  test.each(['express', 'fastify'] as const)('other routes of %s keep their parser', async (name) => {
    const { url } = await start(adapters[name]!)
    const response = await fetch(`${url}/other`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"a":1}',
    })
    expect(await response.json()).toEqual({ a: 1 })
  })
})

test('a source given to the handler needs no path', async () => {
  const { post, source } = await start((inbox) =>
    listen(createServer(nodeHandler(inbox, { source: 'stripe' }))),
  )
  expect((await post(await source.sign(source.sample({ now: Date.now() })), '/anything')).status).toBe(200)
})

test('every adapter refuses a source that is not configured when it is made', async () => {
  await using inbox = createInbox({
    store: 'sqlite::memory:',
    sources: { stripe: stripe({ secret: secretOf('stripe') }) },
  })
  for (const adapter of [nodeHandler, expressHandler, fastifyPlugin, honoHandler, fetchHandler, nextRoute])
    expect(() => adapter(inbox, { source: 'strip' }), adapter.name).toThrow(/no source named "strip".*stripe/)
})

test('createInbox().fetch is the web-standard handler', async () => {
  const source = stripe({ secret: secretOf('stripe') })
  await using inbox = createInbox({ store: 'sqlite::memory:', sources: { stripe: source } })
  const { headers, body } = await source.sign(source.sample({ now: Date.now() }))
  const request = new Request('https://app.example/webhooks/stripe', {
    method: 'POST',
    headers,
    body: body,
  })
  expect((await inbox.fetch(request)).status).toBe(200)
})

test.each(['read', 'being read'])(
  'a web-standard request whose body is %s already is a 500 with its name',
  async (how) => {
    const { inbox, lines } = await start(async () => ({ url: '', stop: async () => {} }))
    const ways = [
      inbox.fetch,
      fetchHandler(inbox, { source: 'stripe' }),
      nextRoute(inbox).POST,
      (request: Request) => new Hono().all('/webhooks/:source', honoHandler(inbox)).fetch(request),
    ]
    for (const way of ways) {
      const request = new Request('https://app.example/webhooks/stripe?a=b', { method: 'POST', body: '{}' })
      if (how === 'read') await request.text()
      else request.body!.getReader()
      const response = await way(request)
      expect([response.status, await response.json()]).toEqual([500, { status: 'failed' }])
    }
    expect(lines.at(-1)).toMatchObject({ level: 'error', source: 'stripe', code: 'BODY_CONSUMED' })
    expect(lines.at(-1)!.msg).toContain('POST /webhooks/stripe was read')
    const { received, rejected } = wholeInbox(inbox).counters.of('stripe')
    expect([received, { ...rejected }]).toEqual([ways.length, { BODY_CONSUMED: ways.length }])
  },
)

/** The status line's code for a path as it is written, which `fetch` would tidy up. */
function askRaw(url: string, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.write(`POST ${path} HTTP/1.1\r\nhost: h\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}`)
    socket.once('data', (chunk) => {
      resolve(Number(chunk.toString('latin1').slice(9, 12)))
      socket.destroy()
    })
    socket.once('error', reject)
  })
}

/** Adapters below a path of the application: the mount point, and how the handler is mounted there. */
const mounted: Record<string, readonly [prefix: string, (inbox: Inbox) => Promise<Running>]> = {
  'node with a path': [
    '/api',
    (inbox) => listen(createServer(nodeHandler(inbox, { path: '/api/webhooks/:source' }))),
  ],
  'fetch with a path': ['/api', (inbox) => served(fetchHandler(inbox, { path: '/api/webhooks/:source' }))],
  'express below a router': [
    '/api',
    (inbox) => listen(createServer(express().use('/api', expressHandler(inbox)))),
  ],
  'express below webhooks': [
    '/api',
    (inbox) => listen(createServer(express().use('/api/webhooks', expressHandler(inbox)))),
  ],
  'express on a route': [
    '/api',
    (inbox) => listen(createServer(express().all('/api/webhooks/:source', expressHandler(inbox)))),
  ],
  'fastify with a prefix': [
    '/api',
    async (inbox) => {
      const app = fastify()
      await app.register(fastifyPlugin(inbox), { prefix: '/api' })
      await app.listen({ port: 0, host: '127.0.0.1' })
      const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
      return { url, stop: () => app.close() }
    },
  ],
  'hono on a route': [
    '/api',
    (inbox) => served(new Hono().all('/api/webhooks/:source', honoHandler(inbox)).fetch),
  ],
}
const plain = Object.entries(adapters).flatMap(([name, adapter]) =>
  name === 'next' ? [] : [[name, ['', adapter]] as const],
)

describe.each([...plain, ...Object.entries(mounted)])('the path to %s', (_name, [prefix, adapter]) => {
  test('names one source, from its start', async () => {
    const { url, inbox } = await start(adapter)
    const paths = [
      `${prefix}/webhooks/dropbox/webhooks/stripe`,
      `${prefix}/webhooks/webhooks/stripe`,
      `${prefix}/elsewhere/webhooks/stripe`,
      `${prefix}/webhooks//stripe`,
      `${prefix}//webhooks/stripe`,
      `${prefix}/webhooks/dropbox%2F..%2Fstripe`,
      `${prefix}/webhooks/dropbox/stripe`,
      `${prefix}/webhooks/dropbox;/webhooks/stripe`,
    ]
    for (const path of paths) expect([path, await askRaw(url, path)]).toEqual([path, 404])
    expect(await askRaw(url, `/elsewhere${prefix}/webhooks/stripe`)).toBe(404)
    expect(wholeInbox(inbox).counters.of('stripe').received).toBe(0)
    expect(await askRaw(url, `${prefix}/webhooks/stripe`)).toBe(401)
    expect(await askRaw(url, `${prefix}/webhooks/stripe?a=/webhooks/dropbox`)).toBe(401)
    expect(wholeInbox(inbox).counters.of('stripe').received).toBe(2)
  })
})

test.each(['node', 'express'] as const)('%s takes dot segments as they are written', async (name) => {
  const { url, inbox } = await start(adapters[name]!)
  for (const path of ['/webhooks/dropbox/../stripe', '/webhooks/./stripe', '/x/../webhooks/stripe'])
    expect([path, await askRaw(url, path)]).toEqual([path, 404])
  expect(wholeInbox(inbox).counters.of('stripe').received).toBe(0)
})

test('a request by proxies with the whole URL finds its source', async () => {
  const { url, inbox } = await start(adapters.node!)
  expect(await askRaw(url, 'http://hooks.example/webhooks/stripe')).toBe(401)
  expect(wholeInbox(inbox).counters.of('stripe').received).toBe(1)
})
