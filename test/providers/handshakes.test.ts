import { createHmac } from 'node:crypto'
import { createInbox } from 'hookonce'
import { catalogue, defineProvider, hmacScheme, slack, xTwitter, zoom } from 'hookonce/providers'
import { sqlite } from 'hookonce/sqlite'
import { describe, expect, test } from 'vitest'

const now = 1_700_000_000_000
const secret = 'a secret that is long enough'

function post(
  body: unknown,
  headers: Record<string, string> = {},
  url = 'https://example.com/hook',
  method = 'POST',
) {
  return { method, url, headers, body: new TextEncoder().encode(JSON.stringify(body)) }
}

describe('a signed handshake', () => {
  const question = { type: 'url_verification', challenge: '3eZbrw1aB' }

  test('is answered when the signature is valid', () => {
    const source = slack({ secret })
    const delivery = source.sign({ body: JSON.stringify(question), now })
    expect(source.handshake(delivery as never, { now })).toMatchObject({ httpStatus: 200, body: '3eZbrw1aB' })
  })

  test('is not answered when the signature is invalid', () => {
    const source = slack({ secret })
    expect(source.handshake(post(question), { now })).toBeNull()
    const delivery = slack({ secret: `${secret} not` }).sign({ body: JSON.stringify(question), now })
    expect(source.handshake(delivery as never, { now })).toBeNull()
    const old = source.sign({ body: JSON.stringify(question), now: now - 3_600_000 })
    expect(source.handshake(old as never, { now })).toBeNull()
  })

  test('can have a computed answer', () => {
    const source = zoom({ secret })
    const body = JSON.stringify({ event: 'endpoint.url_validation', payload: { plainToken: 'qgg8vlvZRS6' } })
    const reply = source.handshake(source.sign({ body, now }) as never, { now })
    const encryptedToken = createHmac('sha256', secret).update('qgg8vlvZRS6').digest('hex')
    expect(JSON.parse(reply!.body)).toEqual({ plainToken: 'qgg8vlvZRS6', encryptedToken })
  })
})

describe('an unsigned handshake', () => {
  const factory = defineProvider({
    key: 'asker',
    name: 'Asker',
    docs: 'https://example.com',
    confidence: 'verified',
    verify: hmacScheme({ signature: 'header:x-signature', encoding: 'hex' }),
    events: { each: 'events[]', id: 'json:id', type: 'json:type' },
    retryWindowMs: null,
    options: {
      verifyToken: { what: 'the token', example: 'token-of-mine' },
      allow: { what: 'yes', example: 'yes' },
    },
    handshakes: [
      {
        when: {
          method: 'GET',
          'query:hub.mode': 'subscribe',
          'query:hub.verify_token': '{option:verifyToken}',
        },
        signed: false,
        needsOption: 'verifyToken',
        reply: { text: '{query:hub.challenge}' },
      },
      {
        when: { 'header:x-hook-secret': true },
        signed: false,
        needsOption: 'allow',
        reply: { headers: { 'x-hook-secret': '{header:x-hook-secret}' } },
      },
      { when: { 'json:events': [] }, signed: true, reply: {} },
    ],
    samples: { a: { events: [{ id: '{id}', type: 'a' }] } },
  })
  const get = (query: string) => ({
    ...post('', {}, `https://example.com/hook?${query}`, 'GET'),
    body: new Uint8Array(),
  })

  test('is answered only if the token is right', () => {
    const source = factory({ secret, verifyToken: 'token-of-mine' })
    const question = (token: string) =>
      get(`hub.mode=subscribe&hub.verify_token=${token}&hub.challenge=1158201444`)
    expect(source.handshake(question('token-of-mine'), { now })?.body).toBe('1158201444')
    expect(source.handshake(question('another'), { now })).toBeNull()
    expect(source.handshake(question(''), { now })).toBeNull()
    expect(factory({ secret }).handshake(question(''), { now })).toBeNull()
  })

  test('never repeats text as HTML, nor line ends in a header', () => {
    const source = factory({ secret, verifyToken: 'token-of-mine', allow: 'yes' })
    const reply = source.handshake(
      get('hub.mode=subscribe&hub.verify_token=token-of-mine&hub.challenge=<script>'),
      { now },
    )
    expect(reply?.headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
    })
    expect(source.handshake(post({}, { 'x-hook-secret': 'abc' }), { now })?.headers['x-hook-secret']).toBe(
      'abc',
    )
    expect(source.handshake(post({}, { 'x-hook-secret': 'a\r\nset-cookie: b' }), { now })).toBeNull()
    expect(factory({ secret }).handshake(post({}, { 'x-hook-secret': 'abc' }), { now })).toBeNull()
  })

  test('an empty batch gets its answer when it is signed', () => {
    const source = factory({ secret })
    const empty = source.sign({ body: '{ "events" : [ ] }', now })
    expect(source.handshake(empty as never, { now })?.httpStatus).toBe(200)
    expect(source.handshake(post({ events: [] }), { now })).toBeNull()
    expect(source.handshake(source.sign({ body: '{"events":[{"id":1}]}', now }) as never, { now })).toBeNull()
  })
})

describe('a handshake that signs a text for anyone (X)', () => {
  const source = xTwitter({ secret })
  const ask = (text: string) => {
    const url = `https://example.com/hook?crc_token=${encodeURIComponent(text)}`
    return source.handshake({ method: 'GET', url, headers: {}, body: new Uint8Array() }, { now })
  }
  const signatureOf = (text: string) => `sha256=${createHmac('sha256', secret).update(text).digest('base64')}`
  const token = 'NTYzYTUwZWQtOTkyMy00NmE2LTkxN2EtNjY4NTEyNGU5OTBk'

  test('answers a token', () => {
    expect(JSON.parse(ask(token)!.body)).toEqual({ response_token: signatureOf(token) })
  })

  test('signs nothing that could be a delivery', async () => {
    const bodies = ['{"follow_events":[]}', '[]', '"text"', 'a,b', 'a\tb', '{', '1'.repeat(257), 'é', '<a>']
    for (const body of bodies) expect(ask(body), body).toBeNull()
  })

  test('records nothing for a text that it signed', async () => {
    const inbox = createInbox({ store: sqlite(':memory:'), sources: { x: source } })
    const send = (body: string) =>
      inbox.receive('x', {
        ...post('', { 'x-twitter-webhooks-signature': signatureOf(body) }),
        body: new TextEncoder().encode(body),
      })
    for (const body of [token, '1', 'true', 'null', 'not JSON', '-.~+/=_']) {
      expect(ask(body), body).not.toBeNull()
      expect(await send(body), body).toMatchObject({ httpStatus: 401, reason: 'bad_signature' })
    }
    // A delivery that no rule names is still recorded, if nobody but X can have signed it.
    for (const body of ['{"for_user_id":"1"}', '[1]', '{broken'])
      expect(await send(body), body).toMatchObject({ httpStatus: 200, status: 'accepted' })
    await inbox.stop()
  })

  test('exists only at X: every other handshake with an HMAC is signed', () => {
    const signing = Object.values(catalogue).filter(({ definition }) =>
      (definition.handshakes ?? []).some(
        ({ signed, reply }) => !signed && JSON.stringify(reply).includes('"hmac":'),
      ),
    )
    expect(signing.map(({ key }) => key)).toEqual(['xTwitter'])
  })
})
