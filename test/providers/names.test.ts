/** The two rules for ids: a redelivery has the same id, two different events have different ids. */
import {
  ably,
  composite,
  defineProvider,
  generateKeys,
  hmac,
  jwtScheme,
  segment,
  slack,
  telegram,
  unverified,
} from 'hookonce/providers'
import { describe, expect, test } from 'vitest'

const now = 1_700_000_000_000
const secret = 'a secret that is long enough'
const named = /^sha256:[0-9a-f]{64}$/
const ids = (events: readonly { id: string }[]) => events.map(({ id }) => id)

describe('a signed delivery for which no rule finds an id', () => {
  const source = hmac({
    secret,
    header: 'x-signature',
    id: 'json:id',
    type: 'json:type',
    reference: 'json:about',
  })
  const sign = (body: string) => source.sign({ body, now })

  test('has an id of its content: equal bytes have equal ids, other bytes have others', async () => {
    const [first] = source.identify(await sign('{"type":"a","about":"b"}'))
    expect(first).toMatchObject({ type: 'a', reference: 'b', payload: { type: 'a', about: 'b' } })
    expect(first!.id).toMatch(named)
    expect(ids(source.identify(await sign('{"type":"a","about":"b"}')))).toEqual([first!.id])
    expect(ids(source.identify(await sign('{"type":"a","about":"c"}')))).not.toEqual([first!.id])
  })

  test('has an id of the signed time too, if there is one', async () => {
    const timed = hmac({
      secret,
      header: 'x-signature',
      id: 'json:id',
      timestamp: { in: 'header:x-time', unit: 's' },
    })
    const at = async (time: number) => ids(timed.identify(await timed.sign({ body: '{}', now: time })))
    expect(await at(now)).toEqual(await at(now))
    expect(await at(now)).not.toEqual(await at(now + 1_000))
  })

  test('is recorded even if its body is unreadable', async () => {
    for (const body of ['no JSON', '{"id":1,"id":2}', '']) {
      const [event, ...more] = source.identify(await sign(body))
      expect(event, body).toMatchObject({ type: 'unknown', reference: null })
      expect(event!.id).toMatch(named)
      expect(more).toEqual([])
    }
  })

  test('is recorded as text if it is nested too deeply to be parsed', async () => {
    for (const body of ['['.repeat(100_000), `{"about":"b","deep":${'['.repeat(600)}${']'.repeat(600)}}`]) {
      expect(source.identify(await sign(body))).toMatchObject([{ payload: body }])
    }
  })

  test('has an id of the verified content, whichever template matched', async () => {
    const delivery = await sign('{"type":"a"}')
    const before = ids(source.identify({ ...delivery }))
    await source.verify(delivery, { now })
    expect(ids(source.identify(delivery))).toEqual(before)
  })

  test('has the type of the rule for its format', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const delivery = await slack({ secret }).sign({ body: 'command=%2Fgo&channel_id=C1', now, headers })
    const [event] = slack({ secret }).identify(delivery)
    expect(event).toMatchObject({ type: 'command:/go', reference: 'C1', payload: { command: '/go' } })
  })
})

describe('slices of a signed delivery', () => {
  const source = hmac({ secret, header: 'x-signature', each: 'items[]', id: 'json:id' })

  test('a slice without an id, or with an ambiguous one, is an event like the others', async () => {
    const body = '{"items":[{"id":"a"},{"type":"x"},{"id":"b","id":"c"},{"type":"x"},{"id":"d"}]}'
    const events = source.identify(await source.sign({ body, now }))
    expect(events.map(({ id }) => (named.test(id) ? 'named' : id))).toEqual([
      'a',
      'named',
      'named',
      'named',
      'd',
    ])
    expect(new Set(ids(events)).size).toBe(5)
    expect(events[1]).toMatchObject({ type: 'x', payload: { type: 'x' } })
    expect(ids(source.identify(await source.sign({ body, now })))).toEqual(ids(events))
  })

  test('an equal slice of another delivery is another event', async () => {
    const of = async (body: string) => ids(source.identify(await source.sign({ body, now })))[0]
    expect(await of('{"page":1,"items":[{"v":0}]}')).not.toBe(await of('{"page":2,"items":[{"v":0}]}'))
  })

  test('a delivery without slices is one event', async () => {
    const events = source.identify(await source.sign({ body: '{"items":[]}', now }))
    expect(events).toMatchObject([{ type: 'unknown', payload: { items: [] } }])
  })
})

describe('a delivery whose content is not signed', () => {
  test('is refused without an id', async () => {
    const token = telegram({ secret })
    expect(token.identify(await token.sign({ body: '{"message":{}}', now }))).toEqual([])
    const none = unverified({ id: 'json:id' })
    expect(none.identify({ method: 'POST', url: '/', headers: {}, body: Buffer.from('{}') })).toEqual([])
  })

  test('is refused also with a JWT that does not cover the body', async () => {
    const bearer = jwtProvider({})({ secret })
    expect(bearer.identify(await bearer.sign({ body: '{}', now }))).toEqual([])
  })
})

describe('the fields `signed` and `timestamp` in an id', () => {
  test('distinguish equal bodies with different times, and make a signed id', async () => {
    const pair = generateKeys('p256')
    for (const id of ['signed', composite('timestamp', 'hash')] as const) {
      const source = defineProvider({
        ...facts,
        verify: jwtScheme({
          in: 'header:x-token',
          algorithms: ['ES256'],
          issuedAt: {},
          bodyHash: { claim: 'hash' },
        }),
        events: { id, type: 'json:type' },
      })(pair)
      expect(source.idIsSigned).toBe(true)
      const at = async (time: number, body = '{}') => {
        const delivery = await source.sign({ body, now: time })
        expect(await source.verify(delivery, { now: time })).toMatchObject({ ok: true })
        return ids(source.identify(delivery))[0]
      }
      expect(await at(now)).toBe(await at(now))
      expect(await at(now)).not.toBe(await at(now + 1_000))
      expect(await at(now)).not.toBe(await at(now, '{"a":1}'))
    }
  })
})

describe('an id that the log does not accept', () => {
  const source = hmac({ secret, header: 'x-signature', id: 'json:id' })
  const idOf = async (id: string) => {
    const body = `{"id":${JSON.stringify(id)},"at":${Math.random()}}`
    return ids(source.identify(await source.sign({ body, now })))[0]
  }

  test('becomes its hash: the same on every delivery, different for another id', async () => {
    for (const id of ['x'.repeat(300), 'a\0b', 'a\nb', 'half \ud800']) {
      expect(await idOf(id)).toMatch(named)
      expect(await idOf(id)).toBe(await idOf(id))
    }
    expect(await idOf('half \ud800')).not.toBe(await idOf('half \ud801'))
    expect(await idOf('half \ud800')).not.toBe(await idOf('half \ufffd'))
  })
})

describe('an event is never refused because of its type or reference', () => {
  const items = (names: readonly string[]) =>
    JSON.stringify({
      items: names.map((name, serial) => ({ serial, name, data: { channelId: name } })),
    })

  test('a control character in one channel name keeps all three items of an Ably batch', async () => {
    const source = ably({ secret })
    const events = source.identify(await source.sign({ body: items(['a', 'b\u0007\nc', 'd']), now }))
    expect(events.map(({ type, reference }) => [type, reference])).toEqual([
      ['a', 'a'],
      ['b\ufffd\ufffdc', 'b\ufffd\ufffdc'],
      ['d', 'd'],
    ])
  })

  test('a long type is cut, a long reference is hashed, half a surrogate pair is replaced', async () => {
    const source = ably({ secret })
    const long = 'é'.repeat(200)
    const [first, second] = source.identify(await source.sign({ body: items([long, '\ud800']), now }))
    expect(first!.type).toBe('é'.repeat(127))
    expect(first!.reference).toMatch(named)
    expect(second).toMatchObject({ type: '\ufffd', reference: '\ufffd' })
  })

  test('a newline in the user id of a Segment event', async () => {
    const source = segment({ secret })
    const body = JSON.stringify({ messageId: 'm1', type: 'track', userId: 'a\nb' })
    expect(source.identify(await source.sign({ body, now }))).toMatchObject([
      { id: expect.stringContaining('m1'), type: 'track', reference: 'a\ufffdb' },
    ])
  })
})

const facts = {
  key: 'names',
  name: 'Names',
  docs: 'https://example.com',
  confidence: 'verified',
  retryWindowMs: null,
  samples: { x: { id: '{id}', type: 'x' } },
} as const

function jwtProvider(_: object) {
  return defineProvider({
    ...facts,
    verify: jwtScheme({ in: 'header:x-token', algorithms: ['HS256'], issuedAt: {} }),
    events: { id: 'json:id', type: 'json:type' },
  })
}
