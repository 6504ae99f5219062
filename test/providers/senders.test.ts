/** Attacks on single senders, and the limits their own libraries keep. */
import crypto, { createSecretKey } from 'node:crypto'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { LinearWebhookClient } from '@linear/sdk/webhooks'
import { amazonSns, generateKeys, linear, messagebird, microsoftGraph } from 'hookonce/providers'
import { SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'

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

  it('throws without the accepted topics', () => {
    const make = amazonSns as unknown as (options: object) => unknown
    for (const topicArn of [undefined, '', [], [''], [42], 42]) {
      expect(() => make({ ...pair, topicArn }), JSON.stringify(topicArn)).toThrow(/topicArn/)
    }
  })

  it.each(['Notification', 'SubscriptionConfirmation'])(
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

  it('fetches a certificate only for a configured topic and a real region', async () => {
    const fetched: string[] = []
    const source = amazonSns({
      topicArn: ours,
      fetch: async (url) => {
        fetched.push(String(url))
        return new Response('no', { status: 500 })
      },
    })
    const sample = signer.sample({ now })
    const at = async (host: string, topicArn = ours) => {
      const fields = { TopicArn: topicArn, SigningCertURL: `https://${host}/SimpleNotificationService-1.pem` }
      const body = JSON.stringify({ ...JSON.parse(String(sample.body)), ...fields })
      return source.verify(await signer.sign({ ...sample, body }), { now })
    }
    for (const host of [
      'sns.evil.amazonaws.com',
      'sns.us-east-1a.amazonaws.com',
      'sns.xx-east-1.amazonaws.com',
      'sns.us-east-1.amazonaws.com.cn',
      'sns.cn-north-1.amazonaws.com',
      'sns.us-nowhere-1.amazonaws.com',
    ]) {
      expect(await at(host), host).toEqual({ ok: false, reason: 'unknown_key' })
    }
    expect(await at('sns.us-east-1.amazonaws.com', other)).toEqual({ ok: false, reason: 'wrong_claims' })
    expect(fetched).toEqual([])
    for (const host of [
      'sns.us-east-1.amazonaws.com',
      'sns.us-gov-west-1.amazonaws.com',
      'sns.ap-southeast-5.amazonaws.com',
      'sns.cn-northwest-1.amazonaws.com.cn',
    ]) {
      expect(await at(host), host).toEqual({ ok: false, reason: 'key_unavailable' })
    }
    expect(fetched).toHaveLength(4)
  })
})

describe('Linear', () => {
  it('refuses a signature older than a minute, as its own library does', async () => {
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
  it('refuses a token without jti, as its own library does', async () => {
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

  it('every notification must have the clientState, at every position', async () => {
    const many = Array.from({ length: 50 }, () => secret)
    expect(await source.verify(sent(many), { now })).toMatchObject({ ok: true })
    for (const at of [0, 1, 25, 49]) {
      expect(await source.verify(sent(many.with(at, 'another text')), { now }), String(at)).toMatchObject({
        ok: false,
      })
    }
  })

  it("the work on a stranger's delivery does not grow with its number of notifications", async () => {
    const { createHash } = crypto
    let hashes = 0
    crypto.createHash = (...given) => {
      hashes += 1
      return createHash(...given)
    }
    syncBuiltinESMExports()
    try {
      await source.verify(sent(Array.from({ length: 5_000 }, (_, index) => `guess ${index}`)), { now })
    } finally {
      crypto.createHash = createHash
      syncBuiltinESMExports()
    }
    expect(hashes).toBeGreaterThan(0)
    expect(hashes).toBeLessThan(5)
  })
})
