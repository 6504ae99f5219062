/** Attacks on single senders, and the limits their own libraries keep. */
import crypto, { createSecretKey } from 'node:crypto'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import {
  amazonSns,
  discord,
  generateKeys,
  hubspotV1,
  linear,
  messagebird,
  microsoftGraph,
  paypal,
  travis,
  wise,
} from 'hookonce/providers'
import { SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { installExtras } from '../../scripts/extras.mjs'

await installExtras('sdks')
const { LinearWebhookClient } = await import('@linear/sdk/webhooks')

const now = Date.UTC(2026, 10, 15)
const secret = 'a secret that is long enough'
const bytes = (text: string) => new TextEncoder().encode(text)

describe('Amazon SNS', () => {
  const pair = generateKeys('rsa')
  const ours = 'arn:aws:sns:us-west-2:123456789012:MyTopic'
  const other = 'arn:aws:sns:us-west-2:210987654321:MyTopic'
  const signer = amazonSns({ ...pair, topicArn: [ours, other] })
  const from = (topicArn: string, type: string) => {
    const sample = signer.sample({ now, type })
    const body = JSON.stringify({ ...JSON.parse(String(sample.body)), TopicArn: topicArn })
    return signer.sign({ ...sample, body })
  }

  test('throws without the accepted topics', () => {
    const make = amazonSns as unknown as (options: object) => unknown
    for (const topicArn of [undefined, '', [], [''], [42], 42]) {
      expect(() => make({ ...pair, topicArn }), JSON.stringify(topicArn)).toThrow(/topicArn/)
    }
  })

  test.each(['Notification', 'SubscriptionConfirmation'])(
    "refuses a %s of somebody else's topic",
    async (type) => {
      const source = amazonSns({ ...pair, topicArn: ours })
      expect(await source.verify(await from(ours, type), { now })).toMatchObject({ ok: true })
      expect(await source.verify(await from(other, type), { now })).toEqual({
        ok: false,
        reason: 'wrong_claims',
      })
      const both = amazonSns({ ...pair, topicArn: [other, ours] })
      expect(await both.verify(await from(other, type), { now })).toMatchObject({ ok: true })
    },
  )

  test('fetches no certificate for a topic that is not configured', async () => {
    const fetched: string[] = []
    const source = amazonSns({
      topicArn: ours,
      fetch: async (url) => {
        fetched.push(String(url))
        return new Response('no', { status: 500 })
      },
    })
    expect(await source.verify(await from(other, 'Notification'), { now })).toEqual({
      ok: false,
      reason: 'wrong_claims',
    })
    expect(fetched).toEqual([])
  })
})

describe('a retry that has the signed time of the first attempt', () => {
  test.each([
    ['Amazon SNS', amazonSns, 60],
    ['PayPal', paypal, 3 * 24 * 60],
    ['Discord', discord, 10],
  ] as const)('is accepted from %s as long as it retries', async (_, factory, minutes) => {
    const source = (factory as (options: unknown) => ReturnType<typeof paypal>)(factory.example())
    const delivery = await source.sign(source.sample({ now }))
    expect(await source.verify(delivery, { now: now + minutes * 60_000 })).toEqual({
      ok: true,
      secretIndex: 0,
    })
  })
})

describe('a sender with one key for all its customers', () => {
  const pair = generateKeys('rsa')

  test('Wise: events of another subscription are refused, and the option is needed', async () => {
    const [ours, theirs] = ['01234567-89ab-cdef-0123-456789abcdef', 'f7a1a1a1-89ab-cdef-0123-456789abcdef']
    const signer = wise({ ...pair, subscriptionId: [ours, theirs] })
    const source = wise({ ...pair, subscriptionId: ours })
    const event = (id: string, headers = {}) => {
      const body = {
        subscription_id: id,
        event_type: 'transfers#state-change',
        data: { resource: { id: 1 } },
      }
      return signer.sign({ body: JSON.stringify(body), now, headers })
    }
    expect(await source.verify(await event(ours), { now })).toMatchObject({ ok: true })
    expect(await source.verify(await event(theirs), { now })).toEqual({ ok: false, reason: 'wrong_claims' })
    // The test of a new subscription comes before anybody knows its id; it stores nothing.
    const test = await event(theirs, { 'x-test-notification': 'true' })
    expect(source.handshake(test, { now })?.httpStatus).toBe(200)
    expect(() => wise({ ...pair } as never)).toThrow(/subscriptionId/)
  })

  test('Travis CI: builds of another repository are refused, and the option is needed', async () => {
    const signer = travis({ ...pair, repository: ['acme/site', 'stranger/site'] })
    const source = travis({ ...pair, repository: 'acme/site' })
    const build = async (owner_name: string) => {
      const payload = JSON.stringify({ id: 1, state: 'passed', repository: { owner_name, name: 'site' } })
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      return signer.sign({ body: new URLSearchParams({ payload }).toString(), now, headers })
    }
    expect(await source.verify(await build('acme'), { now })).toMatchObject({ ok: true })
    expect(await source.verify(await build('stranger'), { now })).toEqual({
      ok: false,
      reason: 'wrong_claims',
    })
    expect(() => travis({ ...pair } as never)).toThrow(/repository/)
  })
})

describe('HubSpot, version 1', () => {
  test('refuses a body that somebody without the secret appended to', async () => {
    const source = hubspotV1({ secret })
    const body = bytes('[{"eventId":1,"portalId":2,"subscriptionId":3}]')
    const captured = await source.sign({ body, now })
    // SHA-256 continues from a digest, after the padding of what was digested.
    const length = secret.length + body.length
    const padding = Buffer.alloc(64 - ((length + 8) % 64) + 8)
    padding[0] = 0x80
    padding.writeBigUInt64BE(BigInt(length * 8), padding.length - 8)
    const suffix = Buffer.from('[{"eventId":9}]')
    const digest = continued(captured.headers['x-hubspot-signature']!, length + padding.length, suffix)
    const forged = {
      ...captured,
      headers: { ...captured.headers, 'x-hubspot-signature': digest },
      body: Buffer.concat([body, padding, suffix]),
    }
    const whole = Buffer.concat([bytes(secret), forged.body])
    expect(digest, 'the forgery is a right digest').toBe(
      crypto.createHash('sha256').update(whole).digest('hex'),
    )
    expect(await source.verify(captured, { now })).toMatchObject({ ok: true })
    expect(await source.verify(forged, { now })).toEqual({ ok: false, reason: 'bad_signature' })
  })
})

describe('Linear', () => {
  test('refuses a signature older than a minute, as its own library does', async () => {
    const source = linear({ secret })
    const client = new LinearWebhookClient(secret)
    const theirs = (body: Uint8Array, signature: string, timestamp: number) => {
      try {
        return client.verify(Buffer.from(body), signature, timestamp)
      } catch {
        return false
      }
    }
    for (const [ageMs, believed] of [
      [0, true],
      [55_000, true],
      [65_000, false],
      [86_400_000, false],
    ] as const) {
      const signedAt = Date.now() - ageMs
      const sent = await source.sign(source.sample({ now: signedAt }))
      const ours = await source.verify(sent, { now: Date.now() })
      expect({
        ageMs,
        ours: ours.ok,
        theirs: theirs(sent.body, sent.headers['linear-signature']!, signedAt),
      }).toEqual({ ageMs, ours: believed, theirs: believed })
    }
  })
})

describe('MessageBird', () => {
  test('refuses a token without jti, as its own library does', async () => {
    const library: {
      verify(url: string, payload: Buffer, token: string, key: crypto.KeyObject): Promise<unknown>
    } = createRequire(import.meta.url)('messagebird/lib/webhook-signature-jwt.js')
    const url = 'https://example.com/webhooks/messagebird'
    const body = '{"type":"message.created","message":{"id":"1"}}'
    const hex = (text: string) => crypto.createHash('sha256').update(text).digest('hex')
    const at = Math.floor(Date.now() / 1_000)
    const token = (more: object) =>
      new SignJWT({
        iss: 'MessageBird',
        nbf: at,
        exp: at + 60,
        url_hash: hex(url),
        payload_hash: hex(body),
        ...more,
      })
        .setProtectedHeader({ alg: 'HS256' })
        .sign(bytes(secret))
    const source = messagebird({ secret })
    const judge = async (text: string) => ({
      ours: (
        await source.verify(
          { method: 'POST', url, headers: { 'messagebird-signature-jwt': text }, body: bytes(body) },
          { now: Date.now() },
        )
      ).ok,
      theirs: await library.verify(url, Buffer.from(body), text, createSecretKey(bytes(secret))).then(
        () => true,
        () => false,
      ),
    })
    expect(await judge(await token({ jti: 'a' }))).toEqual({ ours: true, theirs: true })
    expect(await judge(await token({}))).toEqual({ ours: false, theirs: false })
  })
})

describe('Microsoft Graph', () => {
  const source = microsoftGraph({ secret })
  const sent = (states: readonly string[]) => ({
    method: 'POST',
    url: 'https://example.com/webhooks/microsoft-graph',
    headers: { 'content-type': 'application/json' },
    body: bytes(JSON.stringify({ value: states.map((clientState) => ({ clientState })) })),
  })

  test('every notification must have the clientState, at every position', async () => {
    const many = Array.from({ length: 50 }, () => secret)
    expect(await source.verify(sent(many), { now })).toMatchObject({ ok: true })
    for (const at of [0, 1, 25, 49]) {
      expect(await source.verify(sent(many.with(at, 'another text')), { now }), String(at)).toMatchObject({
        ok: false,
      })
    }
  })

  test("the work on a stranger's delivery does not grow with its number of notifications", async () => {
    const { hash } = crypto
    let hashes = 0
    crypto.hash = ((...given: Parameters<typeof hash>) => {
      hashes += 1
      return hash(...given)
    }) as typeof hash
    syncBuiltinESMExports()
    try {
      await source.verify(sent(Array.from({ length: 5_000 }, (_, index) => `guess ${index}`)), { now })
    } finally {
      crypto.hash = hash
      syncBuiltinESMExports()
    }
    expect(hashes).toBeGreaterThan(0)
    expect(hashes).toBeLessThan(5)
  })
})

/** SHA-256 of a text of `length` bytes with this digest, padding included, and of a suffix of less than 56 bytes. */
function continued(digest: string, length: number, suffix: Buffer): string {
  const state = Array.from({ length: 8 }, (_, i) => Number.parseInt(digest.slice(8 * i, 8 * i + 8), 16))
  const block = Buffer.alloc(64)
  suffix.copy(block)
  block[suffix.length] = 0x80
  block.writeBigUInt64BE(BigInt((length + suffix.length) * 8), 56)
  const primes = Array.from({ length: 320 }, (_, n) => n).filter(
    (n) => n > 1 && Array.from({ length: n }, (_, d) => d).every((d) => d < 2 || n % d !== 0),
  )
  const k = primes.slice(0, 64).map((prime) => Math.floor((Math.cbrt(prime) % 1) * 2 ** 32))
  const rotated = (x: number, by: number) => (x >>> by) | (x << (32 - by))
  const w = Array.from({ length: 16 }, (_, i) => block.readUInt32BE(4 * i))
  for (let i = 16; i < 64; i += 1) {
    const [x, y] = [w[i - 15]!, w[i - 2]!]
    const small = rotated(x, 7) ^ rotated(x, 18) ^ (x >>> 3)
    const large = rotated(y, 17) ^ rotated(y, 19) ^ (y >>> 10)
    w.push((w[i - 16]! + small + w[i - 7]! + large) | 0)
  }
  let [a, b, c, d, e, f, g, h] = state as [number, number, number, number, number, number, number, number]
  for (let i = 0; i < 64; i += 1) {
    const one =
      (h + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) + ((e & f) ^ (~e & g)) + k[i]! + w[i]!) | 0
    const two = ((rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0
    ;[a, b, c, d, e, f, g, h] = [(one + two) | 0, a, b, c, (d + one) | 0, e, f, g]
  }
  return [a, b, c, d, e, f, g, h]
    .map((word, i) => ((word + state[i]!) >>> 0).toString(16).padStart(8, '0'))
    .join('')
}
