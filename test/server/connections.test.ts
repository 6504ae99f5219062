/** Clients as they come: slow, many, leaving, encrypted, through proxies. */

import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { Agent, request as httpRequest } from 'node:http'
import { request } from 'node:https'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Delivery, Inbox } from 'hookonce'
import { unverified } from 'hookonce/providers'
import { createServer, type ServerOptions } from 'hookonce/server'
import { afterEach, describe, expect, test } from 'vitest'
import { wholeInbox } from '#dist/inbox/internals.js'
import { certificate, certificateKey } from '../support/certificate.js'
import { type LogLine, loggedInbox } from '../support/inboxes.js'
import { signal, until } from '../support/processing.js'
import { heard, say, serving, tokenOf } from '../support/serving.js'

const token = 'a-token-0123456789'
const inboxes: Inbox[] = []
afterEach(async () => {
  for (const inbox of inboxes.splice(0)) await inbox.stop()
})

function shop(limits = {}): { inbox: Inbox; lines: LogLine[]; seen: Delivery[] } {
  const source = unverified({ id: 'json:id', type: 'json:type' })
  const seen: Delivery[] = []
  const made = loggedInbox({
    store: 'sqlite::memory:',
    limits,
    sources: {
      shop: {
        ...source,
        verify: (delivery, options) => {
          seen.push(delivery)
          return source.verify(delivery, options)
        },
      },
    },
  })
  inboxes.push(made.inbox)
  return { ...made, seen }
}

const post = (url: string, id: string, headers = {}) =>
  fetch(`${url}/webhooks/shop`, { method: 'POST', headers, body: JSON.stringify({ id, type: 'x' }) })

const head = (extra = '') => `POST /webhooks/shop HTTP/1.1\r\nhost: h\r\n${extra}`
const whole = (id: string, extra = '') => {
  const body = JSON.stringify({ id, type: 'x' })
  return `${head(extra)}content-length: ${body.length}\r\n\r\n${body}`
}

describe('slow clients', () => {
  test('200 of them hold nothing up, and each is cut off: no headers, half headers, half a body', async () => {
    const { inbox } = shop({ bodyTimeout: 2_000 })
    const { url, port } = await serving(inbox)
    const starts = [
      '',
      'POST /webhooks/shop HTTP/1.1\r\nx-',
      head(),
      head('content-length: 100\r\n\r\n{"id":'),
    ]
    const slow: Socket[] = []
    for (let i = 0; i < 200; i++) slow.push(say(port, starts[i % 4]!))
    const cut = Promise.all(slow.map(heard))
    // One byte now and then keeps a connection from looking dead; it must not keep it alive.
    const drip = setInterval(() => {
      for (const [i, socket] of slow.entries()) if (i % 4 !== 0 && socket.writable) socket.write('a')
    }, 200)
    try {
      await until(() => slow.every((socket) => !socket.connecting), 'all are connected')
      for (let i = 0; i < 20; i++) expect((await post(url, `good-${i}`)).status).toBe(200)
      const answers = (await cut).map((answer) => /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 'none')
      expect([...new Set(answers)]).toEqual(['408'])
      expect(answers).toHaveLength(200)
    } finally {
      clearInterval(drip)
    }
    expect(wholeInbox(inbox).counters.of('shop').rejected.timeout).toBe(50)
    expect(wholeInbox(inbox).counters.of('(unknown)').rejected.timeout).toBe(150)
    expect(wholeInbox(inbox).counters.of('shop').recorded).toBe(20)
  })

  test('connections over the limit are turned away and said once', async () => {
    const { inbox, lines } = shop({ bodyTimeout: 600_000 })
    const { port, server } = await serving(inbox, { maxConnections: 3 })
    const kept = [1, 2, 3].map(() => say(port, head()))
    await until(async () => (await connections(server.node)) === 3, 'three')
    for (const extra of [1, 2, 3].map(() => say(port, head()))) expect(await heard(extra)).toBe('')
    expect(lines.filter((line) => line.reason === 'max_connections')).toHaveLength(1)
    for (const socket of kept) socket.destroy()
  })
})

describe('keep-alive', () => {
  test('outlives the 60 seconds of common proxies, and one connection carries many deliveries', async () => {
    const { inbox } = shop()
    const { port, server } = await serving(inbox)
    expect(server.node.keepAliveTimeout).toBeGreaterThan(60_000)
    let opened = 0
    server.node.on('connection', () => opened++)
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (let i = 0; i < 5; i++) {
      const sent = httpRequest({ port, agent, method: 'POST', path: '/webhooks/shop' })
      sent.end(JSON.stringify({ id: `k${i}`, type: 'x' }))
      const [response] = await once(sent, 'response')
      expect(response.statusCode).toBe(200)
      response.resume()
      await once(response, 'end')
    }
    agent.destroy()
    expect(opened).toBe(1)
  })
})

describe('requests in a row on one connection', () => {
  test('are forgotten with it: a swap does not wait for what nobody will read', async () => {
    const { inbox } = shop()
    const held = signal()
    let reached = 0
    const stuck = {
      ...inbox,
      async receive(source: string, delivery: Delivery) {
        reached++
        if (reached === 1) await held.wait
        return inbox.receive(source, delivery)
      },
    }
    const { port, server } = await serving(stuck)
    const socket = say(port, whole('1') + whole('2') + whole('3'))
    await until(() => reached === 3, 'all are under way')
    const swapped = server.swap(shop().inbox)
    socket.destroy()
    expect(await swapped).toBe(stuck)
    held.give()
  })
})

describe('close', () => {
  test('a delivery that is half here is finished and told to close; no new connection is taken', async () => {
    const { inbox } = shop()
    const { port, server } = await serving(inbox)
    const body = '{"id":"half","type":"x"}'
    const socket = say(
      port,
      head(`expect: 100-continue\r\ncontent-length: ${body.length}\r\n\r\n${body.slice(0, 9)}`),
    )
    await once(socket, 'data')
    const answer = heard(socket)
    const closed = server.close({ deadline: 20_000 })
    await until(() => !server.node.listening, 'the port is closed')
    const refused = say(port, whole('late'))
    expect(await heard(refused)).toBe('')
    socket.write(body.slice(9))
    expect(await answer).toMatch(/^HTTP\/1\.1 200 [\s\S]*connection: close[\s\S]*"event_id":"half"/i)
    await closed
  })

  test('an idle connection may still bring the request that was on its way', async () => {
    const { inbox } = shop()
    const { port, server } = await serving(inbox)
    const socket = say(port, whole('first'))
    await once(socket, 'data')
    const closed = server.close({ deadline: 20_000 })
    const answer = heard(socket)
    // At once: an idle connection is closed a quarter of a second after the port.
    while (server.node.listening) await new Promise((resolve) => setImmediate(resolve))
    socket.write(whole('second'))
    expect(await answer).toMatch(/^HTTP\/1\.1 200 [\s\S]*connection: close[\s\S]*"event_id":"second"/i)
    await closed
  })

  test('says that it is stopping to those who ask whether it is ready', async () => {
    const { inbox } = shop()
    const { port, server } = await serving(inbox)
    const socket = say(port, whole('first'))
    await once(socket, 'data')
    const closed = server.close({ deadline: 20_000 })
    const answer = heard(socket)
    socket.write('GET /readyz HTTP/1.1\r\nhost: h\r\n\r\n')
    expect(await answer).toMatch(/^HTTP\/1\.1 503 [\s\S]*"stopping"/)
    await closed
  })

  test('what does not end is cut at the deadline, and close again with no time is now', async () => {
    const { inbox } = shop({ bodyTimeout: 3_000_000 })
    const { port, server } = await serving(inbox)
    const stuck = say(port, head('expect: 100-continue\r\ncontent-length: 10\r\n\r\n'))
    await once(stuck, 'data')
    const gone = heard(stuck)
    await server.close({ deadline: 400 })
    await gone

    const other = shop({ bodyTimeout: 3_000_000 })
    const second = await serving(other.inbox)
    const held = say(second.port, head('expect: 100-continue\r\ncontent-length: 10\r\n\r\n'))
    await once(held, 'data')
    const closing = second.server.close({ deadline: 600_000 })
    void second.server.close({ deadline: 0 })
    await closing
    await expect(other.inbox.events.stats()).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  })

  test('an inline delivery under way is handled before the inbox stops', async () => {
    const begun = signal()
    const goOn = signal()
    const source = { ...unverified({ id: 'json:id', type: 'json:type' }), mode: 'inline' as const }
    const { inbox } = loggedInbox({ store: 'sqlite::memory:', sources: { shop: source } })
    inbox.on('shop', '*', async () => {
      begun.give()
      await goOn.wait
    })
    await inbox.start()
    const { url, server } = await serving(inbox)
    const answer = post(url, 'inline')
    await begun.wait
    const closed = server.close({ deadline: 20_000 })
    goOn.give()
    // `already_processed` when a worker of the inbox took it before the request.
    const { status } = (await (await answer).json()) as { status: string }
    expect(status).toMatch(/^(already_)?processed$/)
    await closed
  })
})

describe('TLS', () => {
  test('with PEM text or with files; senders that sign the URL see https', async () => {
    const pair = { cert: certificate, key: certificateKey }
    const files = {
      cert: join(tmpdir(), `hookonce-${process.pid}.crt`),
      key: join(tmpdir(), `hookonce-${process.pid}.key`),
    }
    await writeFile(files.cert, pair.cert)
    await writeFile(files.key, pair.key)
    for (const tls of [pair, files]) {
      const { inbox, seen } = shop()
      const { url, port } = await serving(inbox, { tls })
      expect(url).toBe(`https://127.0.0.1:${port}`)
      const sent = request({
        port,
        host: '127.0.0.1',
        ca: pair.cert,
        method: 'POST',
        path: '/webhooks/shop?a=1',
        agent: false,
      })
      sent.end('{"id":"tls","type":"x"}')
      const [response] = await once(sent, 'response')
      response.resume()
      expect(response.statusCode).toBe(200)
      expect(seen[0]!.url).toBe(`https://127.0.0.1:${port}/webhooks/shop?a=1`)
    }
  })

  test('a key that is not the one of the certificate stops it, without a word of the key', () => {
    const { inbox } = shop()
    const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
    const tls = { cert: certificate, key: other.export({ type: 'pkcs8', format: 'pem' }).toString() }
    expect(() => createServer(inbox, { tls, admin: false })).toThrow(/server\.tls/)
    expect(() => createServer(inbox, { tls: { cert: 'none.pem', key: 'none.pem' }, admin: false })).toThrow(
      /ENOENT/,
    )
  })
})

describe('where it listens', () => {
  test.each(['0.0.0.0', '::', '192.0.2.1', 'hooks.example.com', '[::]', '127.0.0.1.evil.example'])(
    '%s without a token is refused, with what to do',
    (host) => {
      const { inbox } = shop()
      expect(() => createServer(inbox, { host })).toThrow(/HOOKONCE_ADMIN_TOKEN.*admin: false/)
    },
  )

  test.each<ServerOptions>([
    { host: '0.0.0.0', admin: { tokens: [tokenOf(token)] } },
    { host: '0.0.0.0', admin: false },
    { host: '127.0.0.1' },
    { host: 'localhost' },
  ])('%o may start', async (options) => {
    const { inbox } = shop()
    const { port } = await serving(inbox, options)
    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200)
  })

  test('a port that is taken is said as such', async () => {
    const { port } = await serving(shop().inbox)
    const server = createServer(shop().inbox, { port, admin: false })
    await expect(server.listen()).rejects.toMatchObject({
      code: 'LISTEN_FAILED',
      message: expect.stringContaining('another program listens there'),
    })
  })

  test('an option that does not exist is refused, with a suggestion', () => {
    const { inbox } = shop()
    const misspelt = { hots: '127.0.0.1' } as ServerOptions
    expect(() => createServer(inbox, misspelt)).toThrow(/did you mean "host"/)
    expect(() => createServer(inbox, { port: 70_000 })).toThrow(/from 0 to 65535/)
    expect(() => createServer(inbox, { publicUrl: 'hooks.example.com' })).toThrow(/server\.publicUrl/)
  })

  test('the admin API answers to the names of this server only, intake to any', async () => {
    const { inbox } = shop()
    const options = { admin: { tokens: [tokenOf(token)] }, publicUrl: 'https://hooks.example.com' }
    const { port } = await serving(inbox, options)
    const ask = async (host: string, path: string) =>
      /^HTTP\/1\.1 (\d+)/.exec(
        await heard(
          say(
            port,
            `GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\nauthorization: Bearer ${token}\r\n\r\n`,
          ),
        ),
      )?.[1]
    expect(await ask('evil.example', '/api/stats')).toBe('421')
    expect(await ask('hooks.example.com', '/api/stats')).toBe('200')
    expect(await ask(`127.0.0.1:${port}`, '/api/stats')).toBe('200')
    expect(await ask('evil.example', '/healthz')).toBe('200')
    expect(await ask('evil.example', '/webhooks/shop')).toBe('405')
  })
})

describe('/metrics', () => {
  test('is for those with a token where there are tokens, for all where it is said so, and can be off', async () => {
    const read = async (options: ServerOptions, authorization?: string) => {
      const { url } = await serving(shop().inbox, options)
      const response = await fetch(`${url}/metrics`, { headers: authorization ? { authorization } : {} })
      return [response.status, (await response.text()).includes('hookonce_')]
    }
    const admin = { tokens: [tokenOf(token, 'viewer')] }
    expect(await read({ admin })).toEqual([401, false])
    expect(await read({ admin }, 'Bearer wrong-0123456789')).toEqual([401, false])
    expect(await read({ admin }, `Bearer ${token}`)).toEqual([200, true])
    expect(await read({ admin: { tokens: [tokenOf(token, 'worker')] } }, `Bearer ${token}`)).toEqual([
      401,
      false,
    ])
    expect(await read({ admin, metrics: true })).toEqual([200, true])
    expect(await read({ admin, metrics: false }, `Bearer ${token}`)).toEqual([404, false])
    expect(await read({ admin: false })).toEqual([403, false])
    expect(await read({ admin: false, metrics: true })).toEqual([200, true])
  })

  test('is not read under another name where nobody needs a token on loopback', async () => {
    const { port } = await serving(shop().inbox, { admin: false, metrics: true })
    const ask = async (host: string) =>
      /^HTTP\/1\.1 (\d+)/.exec(
        await heard(say(port, `GET /metrics HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`)),
      )?.[1]
    expect(await ask('evil.example')).toBe('421')
    expect(await ask(`localhost:${port}`)).toBe('200')
  })

  test('is no place to guess tokens either', async () => {
    const { url } = await serving(shop().inbox, { admin: { tokens: [tokenOf(token, 'viewer')] } })
    const guess = async (text: string) =>
      (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${text}` } })).status
    for (let i = 0; i < 10; i++) expect(await guess(`wrong-${i}-0123456789`)).toBe(401)
    expect(await guess('wrong-again-0123456789')).toBe(429)
    expect(await guess(token)).toBe(200)
  })
})

function connections(server: {
  getConnections(done: (error: Error | null, count: number) => void): unknown
}) {
  return new Promise<number>((resolve, reject) =>
    server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  )
}
