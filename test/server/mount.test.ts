/** The admin API where people mount things, over real HTTP. */

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { createInbox, type Inbox, silentLog } from 'hookonce'
import { unverified } from 'hookonce/providers'
import { type Admin, admin, fastifyAdmin, nodeAdmin } from 'hookonce/server'
import { afterEach, describe, expect, test } from 'vitest'
import { wholeInbox } from '#dist/inbox/internals.js'
import { post } from '../support/processing.js'
import { tokenOf, tokens } from './support.js'

interface Running {
  readonly url: string
  stop(): Promise<unknown>
}

/** Each with a route of the application beside it, which must keep working. */
const frameworks: Record<string, (handler: Admin) => Promise<Running>> = {
  node: (handler) => {
    const answer = nodeAdmin(handler, '/admin')
    return listen(
      createServer((request, response) => answer(request, response, () => void response.end('{"own":true}'))),
    )
  },
  express: (handler) => {
    const app = express()
    app.use(nodeAdmin(handler, '/admin'))
    app.use(express.json())
    app.post('/own', (request, response) => void response.json(request.body))
    return listen(createServer(app))
  },
  'express, below a router and after a body parser': (handler) => {
    const app = express()
    app.use(express.json())
    app.use('/admin', nodeAdmin(handler, '/admin'))
    app.post('/own', (request, response) => void response.json(request.body))
    return listen(createServer(app))
  },
  async fastify(handler) {
    // The client keeps a spare connection open, which Fastify would wait for.
    const app = fastify({ forceCloseConnections: true })
    await app.register(fastifyAdmin(handler, '/admin'))
    app.post('/own', async (request) => request.body)
    await app.listen({ port: 0, host: '127.0.0.1' })
    return { url: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`, stop: () => app.close() }
  },
  hono: (handler) => {
    const app = new Hono()
    app.all('/admin', (context) => handler.fetch(context.req.raw))
    app.all('/admin/*', (context) => handler.fetch(context.req.raw))
    app.post('/own', async (context) => context.json(await context.req.json()))
    return served(app.fetch)
  },
  // app/admin/[[...path]]/route.ts exports the handler under the names of the methods.
  next: (handler) => {
    const route = (request: Request) => handler.fetch(request)
    const { GET, POST, DELETE } = { GET: route, POST: route, DELETE: route }
    return served((request) => {
      if (!new URL(request.url).pathname.startsWith('/admin')) return new Response(request.body)
      return { GET, POST, DELETE }[request.method as 'GET']!(request)
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
      const stop = () => new Promise((done) => (server as Server).close(done).closeAllConnections())
      resolve({ url: `http://127.0.0.1:${port}`, stop })
    })
  })
}

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function start(mount: (handler: Admin) => Promise<Running>): Promise<{ url: string; inbox: Inbox }> {
  const source = unverified({ id: 'json:id', type: 'json:type', reference: 'json:ref' })
  const inbox = createInbox({ store: 'sqlite::memory:', sources: { shop: source }, log: silentLog })
  cleanups.push(() => inbox.stop())
  const handler = admin(inbox, { basePath: '/admin', tokens })
  cleanups.push(() => handler.close())
  const running = await mount(handler)
  cleanups.push(() => running.stop())
  return { url: running.url, inbox }
}

describe('express, with a parser before it', () => {
  const mounted = (read: express.RequestHandler) =>
    start((handler) => {
      const app = express()
      app.use(read, nodeAdmin(handler, '/admin'))
      // Express prints what it is given.
      const failed: express.ErrorRequestHandler = (_error, _request, response, _next) =>
        void response.sendStatus(500)
      app.use(failed)
      return listen(createServer(app))
    })

  test('a body that somebody has read away is an error, and no order without its words', async () => {
    const { url, inbox } = await mounted(
      (request, _response, next) => void request.resume().once('end', () => next()),
    )
    await post(inbox, { id: 'a' })
    const answer = await fetch(`${url}/admin/api/events/shop/a/ignore`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tokenOf('operator')}`, 'content-type': 'application/json' },
      body: '{"dryRun":true}',
    })
    expect(answer.status).toBe(500)
    expect(await inbox.events.get({ source: 'shop', id: 'a' })).toMatchObject({ state: 'pending' })
  })
})

describe.each(Object.entries(frameworks))('%s', (_name, mount) => {
  const json = { 'content-type': 'application/json' }
  const bearer = { authorization: `Bearer ${tokenOf('operator')}` }

  test('answers below its path, takes bodies, and leaves the rest to the application', async () => {
    const { url, inbox } = await start(mount)
    await post(inbox, { id: 'a/b' })
    expect((await fetch(`${url}/admin/api/stats`)).status).toBe(401)
    const listed = await fetch(`${url}/admin/api/events?source=shop`, { headers: bearer })
    expect(await listed.json()).toMatchObject({ events: [{ id: 'a/b' }] })
    const ordered = await fetch(`${url}/admin/api/events/shop/a%2Fb/ignore`, {
      method: 'POST',
      headers: { ...bearer, ...json },
      body: '{"note":"noise"}',
    })
    expect([ordered.status, await ordered.json()]).toMatchObject([200, { to: 'ignored' }])
    const { audits } = await (await wholeInbox(inbox).store()).audit!.list({ verb: 'ignore' })
    expect(audits).toMatchObject([{ actor: 'the-operator', note: 'noise' }])
    for (const path of ['/admin', '/admin/']) {
      const page = await fetch(`${url}${path}`, { headers: bearer })
      const script = /<script [^>]*src="([^"]+)"/.exec(await page.text())?.[1] ?? ''
      const file = await fetch(new URL(script, `${url}${path}`))
      const type = file.headers.get('content-type')
      expect([path, page.status, file.status, type]).toEqual([
        path,
        200,
        200,
        'text/javascript; charset=utf-8',
      ])
    }
    const own = await fetch(`${url}/own`, { method: 'POST', headers: json, body: '{"own":true}' })
    expect(await own.json()).toEqual({ own: true })
  })

  test('signs in, streams, and lets go of a stream when its reader leaves', async () => {
    const { url, inbox } = await start(mount)
    const signed = await fetch(`${url}/admin/api/sessions`, {
      method: 'POST',
      headers: json,
      body: JSON.stringify({ token: tokenOf('viewer') }),
    })
    const cookie = signed.headers.get('set-cookie')!.split(';')[0]!
    expect(signed.headers.get('set-cookie')).toContain('Path=/admin;')
    const stop = new AbortController()
    const stream = await fetch(`${url}/admin/api/stream`, { headers: { cookie }, signal: stop.signal })
    expect(stream.headers.get('content-type')).toBe('text/event-stream')
    const reader = stream.body!.getReader()
    let text = ''
    const read = async () => {
      text += Buffer.from((await reader.read()).value!).toString()
    }
    await read()
    await post(inbox, { id: 'live' })
    while (!text.includes('"live"')) await read()
    stop.abort()
    const out = await fetch(`${url}/admin/api/sessions`, {
      method: 'DELETE',
      headers: { cookie, origin: url },
    })
    expect([out.status, out.headers.get('set-cookie')]).toMatchObject([
      204,
      expect.stringContaining('Max-Age=0'),
    ])
  })
})
