/** What is believed about a caller when proxies stand in between, and what is not. */

import type { IncomingMessage } from 'node:http'
import { twilio, unverified } from 'hookonce/providers'
import type { TrustProxy } from 'hookonce/server'
import { describe, expect, test } from 'vitest'
import { callers } from '#dist/server/trust-proxy.js'
import { loggedInbox, secretOf } from '../support/inboxes.js'
import { send, serving } from '../support/serving.js'

function asked(trust: TrustProxy, peer: string, headers: Record<string, string>) {
  const request = { socket: { remoteAddress: peer }, headers: { host: 'inner', ...headers } }
  const { callerOf, originOf } = callers(trust)
  const incoming = request as unknown as IncomingMessage
  return [callerOf(incoming).address, originOf(incoming)]
}

const spoof = {
  'x-forwarded-for': '6.6.6.6',
  'x-forwarded-proto': 'https',
  'x-forwarded-host': 'evil.example',
}

describe('trustProxy', () => {
  test('believes nobody unless told to', () => {
    expect(asked(false, '203.0.113.9', spoof)).toEqual(['203.0.113.9', 'http://inner'])
    expect(asked(0, '203.0.113.9', spoof)).toEqual(['203.0.113.9', 'http://inner'])
    expect(asked([], '203.0.113.9', spoof)).toEqual(['203.0.113.9', 'http://inner'])
  })

  test('ranges: a caller from elsewhere is not believed, and what it wrote before our proxy neither', () => {
    const ours = ['10.0.0.0/8', '::1']
    expect(asked(ours, '203.0.113.9', spoof)).toEqual(['203.0.113.9', 'http://inner'])
    const through = {
      'x-forwarded-for': '6.6.6.6, 198.51.100.7, 10.0.0.2',
      'x-forwarded-proto': 'http, https, http',
      'x-forwarded-host': 'evil.example, hooks.example.com, inner',
    }
    expect(asked(ours, '10.0.0.1', through)).toEqual(['198.51.100.7', 'https://hooks.example.com'])
    expect(asked(ours, '::ffff:10.0.0.1', through)).toEqual(['198.51.100.7', 'https://hooks.example.com'])
    expect(asked(ours, '::1', { 'x-forwarded-for': '2001:db8::5', 'x-forwarded-proto': 'https' })).toEqual([
      '2001:db8::5',
      'https://inner',
    ])
  })

  test('a number: that many from the end', () => {
    const headers = { 'x-forwarded-for': '6.6.6.6, 198.51.100.7', 'x-forwarded-proto': 'https' }
    expect(asked(1, '10.0.0.1', headers)).toEqual(['198.51.100.7', 'https://inner'])
    expect(asked(2, '10.0.0.1', headers)).toEqual(['6.6.6.6', 'https://inner'])
    expect(asked(3, '10.0.0.1', headers)).toEqual(['6.6.6.6', 'https://inner'])
    expect(asked(1, '10.0.0.1', {})).toEqual(['10.0.0.1', 'http://inner'])
  })

  test('true: the first of each, whoever wrote it', () => {
    expect(asked(true, '203.0.113.9', spoof)).toEqual(['6.6.6.6', 'https://evil.example'])
  })

  test('what is no address or no host is not taken for one', () => {
    const headers = {
      'x-forwarded-for': '<script>',
      'x-forwarded-host': 'a b/c@d',
      'x-forwarded-proto': 'javascript',
    }
    expect(asked(1, '10.0.0.1', headers)).toEqual(['10.0.0.1', 'http://inner'])
    expect(asked(1, '10.0.0.1', { 'x-forwarded-for': '[2001:db8::1]:443' })[0]).toBe('2001:db8::1')
    expect(asked(1, '10.0.0.1', { 'x-forwarded-for': '198.51.100.7:5555' })[0]).toBe('198.51.100.7')
    expect(asked(false, '10.0.0.1', { host: 'a@b' })[1]).toBe('http://localhost')
  })

  test('named ranges', () => {
    expect(
      asked(['loopback', 'private'], '127.0.0.1', { 'x-forwarded-for': '1.2.3.4, 192.168.1.1' })[0],
    ).toBe('1.2.3.4')
  })

  test.each([[['10.0.0.0/33']], [['nonsense']], [['10.0.0.0/x']], [-1], [1.5], ['yes']])(
    '%j is refused',
    (trust) => {
      expect(() => callers(trust as TrustProxy)).toThrow(/server\.trustProxy/)
    },
  )
})

describe('a sender that signs the URL', () => {
  const source = twilio({ secret: secretOf('twilio') })

  async function signedFor(url: string) {
    const sample = source.sample({ now: Date.now() })
    return source.sign({ ...sample, url, now: Date.now() })
  }

  test('is believed by the public URL, or by what our proxy says; not by what a stranger says', async () => {
    const status = async (options: object, headers: Record<string, string> = {}) => {
      const { inbox } = loggedInbox({ store: 'sqlite::memory:', sources: { twilio: source } })
      const { url } = await serving(inbox, options)
      const delivery = await signedFor('https://hooks.example.com/webhooks/twilio')
      return (await send(url, 'twilio', { ...delivery, headers: { ...delivery.headers, ...headers } })).status
    }
    const proxied = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'hooks.example.com' }
    expect(await status({})).toBe(401)
    expect(await status({}, proxied)).toBe(401)
    expect(await status({ publicUrl: 'https://hooks.example.com/' })).toBe(200)
    expect(await status({ trustProxy: ['loopback'] }, proxied)).toBe(200)
    expect(await status({ trustProxy: ['10.0.0.0/8'] }, proxied)).toBe(401)
  })
})

test('a source that is not verified does not care', async () => {
  const { inbox } = loggedInbox({
    store: 'sqlite::memory:',
    sources: { shop: unverified({ id: 'json:id', type: 'json:type' }) },
  })
  const { url } = await serving(inbox, { trustProxy: 1 })
  const body = Buffer.from('{"id":"a","type":"b"}')
  expect((await send(url, 'shop', { headers: { 'x-forwarded-for': 'junk' }, body })).status).toBe(200)
})
