/** Attacks from a browser and from the network: other hosts, other origins, forged sessions, guessed tokens. */

import { request as httpRequest } from 'node:http'
import { createInbox, type Inbox, silentLog } from 'hookonce'
import { unverified } from 'hookonce/providers'
import { type AdminOptions, admin } from 'hookonce/server'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { wholeInbox } from '#dist/inbox/internals.js'
import { post } from '../support/processing.js'
import { heard, say } from '../support/serving.js'
import { hashOf, type RunningAdmin, startAdmin, tokenOf, tokens } from './support.js'

let inbox: Inbox
let running: RunningAdmin

const source = unverified({ id: 'json:id', type: 'json:type', reference: 'json:ref' })
const newInbox = () => createInbox({ store: 'sqlite::memory:', sources: { shop: source }, log: silentLog })

beforeAll(async () => {
  inbox = newInbox()
  await post(inbox, { id: 'e1' })
})
afterAll(() => inbox.stop())
afterEach(() => running.stop())

async function start(options: AdminOptions = {}): Promise<RunningAdmin> {
  running = await startAdmin(inbox, options)
  return running
}

/** With headers that fetch does not let one choose. */
function raw(
  method: string,
  path: string,
  headers: Record<string, string | string[]>,
): Promise<[number, string]> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { port: running.port, host: '127.0.0.1', method, path, headers, setHost: false },
      (response) => {
        let text = ''
        response.on('data', (chunk: Buffer) => {
          text += chunk.toString()
        })
        response.on('end', () => resolve([response.statusCode!, text]))
      },
    )
    request.on('error', reject).end()
  })
}

const bearer = `Bearer ${tokenOf('admin')}`
const paths = [
  '/',
  '/page.css',
  '/page.js',
  '/api/openapi.json',
  '/api/stats',
  '/api/events',
  '/api/session',
  '/nowhere',
]

describe('the Host header', () => {
  test('of another name is refused on every route, token or not', async () => {
    await start()
    for (const host of [
      'evil.example',
      'evil.example:4100',
      'localhost.evil.example',
      'evil.example#localhost',
      '127.0.0.1.evil.example',
      'localhost:4100:80',
      'localhost@evil.example',
      'localhost.',
      '0.0.0.0',
      '[::2]',
      '',
      ' ',
    ]) {
      for (const path of paths) {
        const [status, text] = await raw('GET', path, { host, authorization: bearer })
        expect([host, path, status]).toEqual([host, path, 421])
        expect(text).not.toContain('evil')
      }
    }
  })

  test('is not replaced by X-Forwarded-Host, nor by an absolute path', async () => {
    await start()
    const headers = { host: 'evil.example', authorization: bearer, 'x-forwarded-host': 'localhost' }
    expect((await raw('GET', '/api/stats', headers))[0]).toBe(421)
    expect(
      (await raw('GET', 'http://localhost/api/stats', { host: 'evil.example', authorization: bearer }))[0],
    ).toBe(421)
  })

  test('of this machine is fine under any port, and others when they are listed', async () => {
    await start({ hosts: ['hooks.example.com', 'two.example:8443'] })
    const ask = async (host: string) => (await raw('GET', '/api/stats', { host, authorization: bearer }))[0]
    expect(await ask('hooks.example.com')).toBe(200)
    expect(await ask('HOOKS.example.com:99')).toBe(200)
    expect(await ask('two.example:8443')).toBe(200)
    expect(await ask('two.example')).toBe(421)
    expect(await ask('localhost')).toBe(421)
    await running.stop()
    await start()
    for (const host of ['localhost', 'localhost:1', '127.0.0.1:4100', '[::1]:4100'])
      expect(await ask(host)).toBe(200)
    expect(() => admin(inbox, { hosts: ['https://x.example'] })).toThrow(/must be a host name/)
  })
})

async function signIn(role: 'admin' | 'viewer' = 'admin'): Promise<string> {
  const response = await running.call('POST', '/api/sessions', { role: null, body: { token: tokenOf(role) } })
  expect(response.status).toBe(201)
  return response.headers.get('set-cookie')!.split(';')[0]!
}

describe('other origins', () => {
  test('a change that rides on a cookie must come from a page of this origin', async () => {
    await start()
    const cookie = await signIn()
    const own = `127.0.0.1:${running.port}`
    const attempt = async (headers: Record<string, string>) => {
      const all = { host: own, cookie, ...headers }
      return (await raw('POST', '/api/events/shop/e1/ignore', all))[0]
    }
    expect(await attempt({})).toBe(403)
    expect(await attempt({ origin: 'https://evil.example' })).toBe(403)
    expect(await attempt({ origin: 'null' })).toBe(403)
    expect(await attempt({ origin: `http://${own}.evil.example` })).toBe(403)
    expect(await attempt({ origin: 'http://127.0.0.1:1' })).toBe(403)
    for (const site of ['cross-site', 'same-site', 'none', 'nonsense']) {
      expect(await attempt({ 'sec-fetch-site': site })).toBe(403)
    }
    for (const authorization of ['junk', 'Basic eDp5', 'Bearer', 'Bearer a b', 'Digest x', '']) {
      expect([authorization, await attempt({ authorization })]).toEqual([authorization, 403])
    }
    expect(await attempt({ 'sec-fetch-site': 'cross-site', origin: `http://${own}` })).toBe(403)
    expect(await attempt({ 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' })).toBe(403)
    expect((await inbox.events.get({ source: 'shop', id: 'e1' }))!.state).toBe('pending')
    expect(await attempt({ origin: `http://${own}` })).toBe(200)
    const [status] = await raw('POST', '/api/events/shop/e1/retry', {
      host: own,
      cookie,
      'sec-fetch-site': 'same-origin',
    })
    expect(status).toBe(200)
  })

  test('nothing of the API is given to one of them, whatever it presents', async () => {
    await start()
    for (const headers of [
      { origin: 'https://evil.example' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'null' },
    ]) {
      for (const path of [
        '/api/stats',
        '/api/events',
        '/%61pi/events/shop/e1/payload',
        '/api/events/shop/e1/payload',
        '/api/stream',
      ]) {
        const response = await running.call('GET', path, { headers: headers as Record<string, string> })
        expect([path, headers, response.status]).toEqual([path, headers, 403])
        expect(response.headers.get('access-control-allow-origin')).toBeNull()
      }
      const signing = await running.call('POST', '/api/sessions', {
        role: null,
        headers: headers as Record<string, string>,
        body: { token: tokenOf('admin') },
      })
      expect([signing.status, signing.headers.get('set-cookie')]).toEqual([403, null])
    }
    const { audits } = await (await wholeInbox(inbox).store()).audit!.list({ verb: 'payload' })
    expect(audits).toEqual([])
  })

  test('a link from elsewhere may lead to the page', async () => {
    await start()
    const response = await running.call('GET', '/', {
      role: null,
      headers: { 'sec-fetch-site': 'cross-site' },
    })
    expect([response.status, await response.text()]).toMatchObject([
      200,
      expect.stringContaining('<title>hookonce'),
    ])
  })

  test('every answer has the headers that keep a browser in its place', async () => {
    await start()
    for (const path of paths) {
      const { headers } = await running.call('GET', path)
      const csp = headers.get('content-security-policy')!
      expect(csp).toContain("default-src 'none'")
      expect(csp).toContain("frame-ancestors 'none'")
      expect(csp).not.toMatch(/unsafe|\*|data:|https?:/)
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('referrer-policy')).toBe('no-referrer')
      // The page itself contains nothing of the log.
      expect(headers.get('cache-control')).toBe(path === '/' ? 'no-cache' : 'no-store')
      expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
    }
    const html = await (await running.call('GET', '/')).text()
    expect(html).not.toMatch(
      /<style|style=|<script(?! type="module" crossorigin src="\.\/assets\/[\w-]+\.js"><\/script>)|\son\w+=/i,
    )
  })
})

describe('sessions', () => {
  test('the cookie is out of reach of scripts, of other sites, and of plain HTTP where there is TLS', async () => {
    await start({ basePath: '/admin' })
    const body = { token: tokenOf('viewer') }
    const plain = await running.call('POST', '/api/sessions', { role: null, body })
    expect(plain.headers.get('set-cookie')).toMatch(
      /^hookonce_session=the-viewer\.\d+\.[\w-]{43}; Path=\/admin; Max-Age=43\d{3}; HttpOnly; SameSite=Strict$/,
    )
    const tls = await running.call('POST', '/api/sessions', {
      role: null,
      headers: { 'x-forwarded-proto': 'https' },
      body,
    })
    expect(tls.headers.get('set-cookie')).toMatch(/; Secure$/)
  })

  test('is as good as its token: the same role, on every node, and not for longer', async () => {
    await start()
    const cookie = await signIn('viewer')
    const ask = (options: AdminOptions, path = '/api/session', value = cookie) => {
      const node = admin(inbox, options)
      return node.fetch(new Request(`http://localhost${path}`, { headers: { cookie: value } }))
    }
    const elsewhere = await ask({ tokens })
    expect(await elsewhere.json()).toMatchObject({ actor: 'the-viewer', role: 'viewer', by: 'session' })
    expect((await ask({ tokens }, '/api/audits')).status).toBe(403)
    expect((await ask({ tokens }, '/api/session', `theme=dark; ${cookie}`)).status).toBe(200)
    const without = tokens.filter(({ name }) => name !== 'the-viewer')
    expect((await ask({ tokens: without })).status).toBe(401)
    const replaced = { name: 'the-viewer', role: 'viewer' as const, sha256: hashOf('another') }
    expect((await ask({ tokens: [...without, replaced] })).status).toBe(401)
    const over = tokens.map((token) => ({ ...token, expiresAt: Date.now() - 1 }))
    expect((await ask({ tokens: over })).status).toBe(401)
    const otherLog = newInbox()
    const there = admin(otherLog, { tokens })
    const request = new Request('http://localhost/api/session', { headers: { cookie } })
    expect((await there.fetch(request)).status).toBe(401)
    await otherLog.stop()
    const promoted = tokens.map((token) =>
      token.name === 'the-viewer' ? { ...token, role: 'operator' as const } : token,
    )
    expect((await ask({ tokens: promoted }, '/api/audits')).status).toBe(200)
  })

  test('does not survive a changed byte, another name or a later date', async () => {
    await start()
    const cookie = await signIn('viewer')
    const [, name, expiry, mac] = /=(.+)\.(\d+)\.(.+)$/.exec(cookie)!
    const status = async (value: string) =>
      (
        await running.call('GET', '/api/session', {
          role: null,
          headers: { cookie: `hookonce_session=${value}` },
        })
      ).status
    expect(await status(`${name}.${expiry}.${mac}`)).toBe(200)
    expect(await status(`the-admin.${expiry}.${mac}`)).toBe(401)
    expect(await status(`${name}.${Number(expiry) + 1}.${mac}`)).toBe(401)
    for (let i = 0; i < 43; i++) {
      const other = mac![i] === 'A' ? 'Q' : 'A'
      expect(await status(`${name}.${expiry}.${mac!.slice(0, i)}${other}${mac!.slice(i + 1)}`)).toBe(401)
    }
    for (const broken of [
      '',
      '.',
      '..',
      `${name}.${expiry}.`,
      `${name}.${expiry}`,
      mac!,
      `${name}.${expiry}.${mac}x`,
    ]) {
      expect(await status(broken)).toBe(401)
    }
  })

  test('ends with its token, and by signing out', async () => {
    const soon = {
      name: 'soon',
      role: 'viewer' as const,
      sha256: hashOf('soon over'),
      expiresAt: Date.now() + 3_600_000,
    }
    await start({ tokens: [soon] })
    const response = await running.call('POST', '/api/sessions', { role: null, body: { token: 'soon over' } })
    const { expiresAt } = (await response.json()) as { expiresAt: string }
    expect(Date.parse(expiresAt)).toBe(soon.expiresAt)
    const [, maxAge] = /Max-Age=(\d+);/.exec(response.headers.get('set-cookie')!)!
    expect(Number(maxAge)).toBeLessThanOrEqual(3_600)
    expect(Number(maxAge)).toBeGreaterThan(3_000)
    const out = await running.call('DELETE', '/api/sessions', { role: null })
    expect([out.status, out.headers.get('set-cookie')]).toMatchObject([
      204,
      expect.stringContaining('Max-Age=0'),
    ])
  })
})

describe('wrong tokens', () => {
  test('are counted by address, limited after ten, and written to the audit; a right one is never held up', async () => {
    running = await startAdmin(inbox)
    const { handler } = running
    const ask = (address: string, token: string) =>
      handler.fetch(
        new Request('http://localhost/api/stats', { headers: { authorization: `Bearer ${token}` } }),
        { address },
      )
    const statuses: number[] = []
    for (let i = 0; i < 12; i++)
      statuses.push((await ask('192.0.2.1', `guess ${i}`.replace(' ', '-'))).status)
    expect(statuses).toEqual([...Array(10).fill(401), 429, 429])
    const blocked = await ask('192.0.2.1', 'guess-again')
    expect([blocked.status, Number(blocked.headers.get('retry-after')) > 0]).toEqual([429, true])
    expect((await ask('192.0.2.1', tokenOf('admin'))).status).toBe(200)
    const signing = new Request('http://localhost/api/sessions', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token: tokenOf('viewer') }),
    })
    expect((await handler.fetch(signing, { address: '192.0.2.1' })).status).toBe(201)
    expect((await ask('192.0.2.1', 'guess-again')).status).toBe(429)
    expect((await ask('192.0.2.2', tokenOf('admin'))).status).toBe(200)
    const { audits } = await (await wholeInbox(inbox).store()).audit!.list({ verb: 'sign_in_refused' })
    expect(audits.filter(({ note }) => note === 'from 192.0.2.1')).toHaveLength(10)
    expect(JSON.stringify(audits)).not.toContain('guess')
    // An IPv6 network is one address.
    for (let i = 0; i < 10; i++) await ask(`2001:db8:0:1::${i}`, 'guess')
    expect((await ask('2001:db8::1:ffff:0:0:9', 'guess')).status).toBe(429)
    expect((await ask('2001:db8:0:2::1', 'guess')).status).toBe(401)
  })

  test('a session that was made before goes on', async () => {
    await start()
    const cookie = await signIn('viewer')
    for (let i = 0; i < 11; i++)
      await running.call('GET', '/api/stats', { role: null, headers: { authorization: 'Bearer x' } })
    expect(
      (await running.call('GET', '/api/stats', { role: null, headers: { authorization: 'Bearer x' } }))
        .status,
    ).toBe(429)
    expect((await running.call('GET', '/api/stats')).status).toBe(200)
    expect((await running.call('GET', '/api/stats', { role: null, headers: { cookie } })).status).toBe(200)
  })
})

describe('bodies', () => {
  test('signing in reads a few kilobytes and no more, and repeats nothing of what it was sent', async () => {
    await start()
    const keys = Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => [`canary${i}`, 1]))
    const large = JSON.stringify(keys)
    expect(large.length).toBeGreaterThan(900_000)
    const json = { 'content-type': 'application/json' }
    for (const [body, status] of [
      [large, 413],
      ['{"canary":1}', 400],
      [JSON.stringify({ token: 'x', canary: 'x'.repeat(4_000) }), 400],
      ['{"token":{"canary":1}}', 400],
    ] as const) {
      const response = await running.call('POST', '/api/sessions', { role: null, headers: json, body })
      const text = await response.text()
      expect([body.slice(0, 30), response.status]).toEqual([body.slice(0, 30), status])
      expect(text).not.toContain('canary')
      expect(text.length).toBeLessThan(2_000)
      // The same where an application hands over the request itself.
      const handed = new Request('http://localhost/api/sessions', { method: 'POST', headers: json, body })
      const answer = await running.handler.fetch(handed, { address: '127.0.0.1' })
      expect(await answer.text()).not.toContain('canary')
    }
    const streamed = new Request('http://localhost/api/sessions', {
      method: 'POST',
      headers: json,
      body: new ReadableStream({
        pull: (controller) => controller.enqueue(new Uint8Array(1_000)),
      }),
      duplex: 'half',
    } as RequestInit)
    expect((await running.handler.fetch(streamed, { address: '127.0.0.1' })).status).toBe(413)
  })

  test('a caller who may not do it is refused before the body is read', async () => {
    await start()
    const announced = (authorization: string) =>
      `POST /api/work/settle HTTP/1.1\r\nhost: localhost:${running.port}\r\n${authorization}` +
      'content-type: application/json\r\ncontent-length: 1000000\r\n\r\n'
    const cases = [
      ['', '401'],
      ['authorization: Bearer wrong\r\n', '401'],
      [`authorization: Bearer ${tokenOf('viewer')}\r\n`, '403'],
    ] as const
    for (const [authorization, status] of cases) {
      // The headers, and nothing of the body: an answer shows that the body was not waited for.
      const text = await heard(say(running.port, announced(authorization)))
      expect(text.slice(9, 12)).toBe(status)
      expect(text.toLowerCase()).toContain('connection: close')
    }
    expect(wholeInbox(inbox).bodies.usedBytes).toBe(0)
  })

  test('every route has a limit that fits it, and takes what is within', async () => {
    await start()
    const { bodyBytes } = running.handler
    expect(bodyBytes('POST', '/api/sessions')).toBeLessThan(10_000)
    expect(bodyBytes('POST', '/api/events/shop/e1/ignore')).toBeLessThan(10_000)
    expect(bodyBytes('POST', '/api/events/shop/e1/retry')).toBe(1024 * 1024)
    expect(bodyBytes('POST', '/nowhere')).toBeLessThan(10_000)
    expect(bodyBytes('POST', '/api/work/claim')).toBeLessThan(100_000)
    expect(bodyBytes('POST', '/api/work/settle')).toBe(1024 * 1024)
    const outcome = { kind: 'failed', error: 'x'.repeat(8_192), retryInMs: null }
    const settlements = Array.from({ length: 100 }, () => ({ lease: '1.x', outcome }))
    const settled = await running.call('POST', '/api/work/settle', { role: 'worker', body: { settlements } })
    expect(settled.status).toBe(200)
    const leases = Array.from({ length: 100 }, () => 'x'.repeat(200))
    const extended = await running.call('POST', '/api/work/extend', { role: 'worker', body: { leases } })
    expect(extended.status).toBe(200)
  })
})
