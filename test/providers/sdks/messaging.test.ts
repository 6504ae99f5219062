import { createPublicKey, createSecretKey, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { discord, generateKeys, messagebird, pusher, sendgrid, slack, twilio } from 'hookonce/providers'
import { describe, expect, test } from 'vitest'
import { installExtras } from '../../../scripts/extras.mjs'
import { agree, changed, delivery, header, oddBodies, text } from './oracle.js'

await installExtras('sdks')
const { EventWebhook, EventWebhookHeader } = await import('@sendgrid/eventwebhook')
const { isValidSlackRequest } = await import('@slack/bolt')
const { verifyKey } = await import('discord-interactions')
const { default: Pusher } = await import('pusher')
const { default: Twilio } = await import('twilio')

const signingSecret = '8f742231b10e8888abcd99yyyzzz85a5'
agree('@slack/bolt', slack({ secret: signingSecret }), {
  verify: (sent) =>
    isValidSlackRequest({
      signingSecret,
      body: text(sent.body),
      headers: {
        'x-slack-signature': header(sent, 'x-slack-signature'),
        'x-slack-request-timestamp': Number(header(sent, 'x-slack-request-timestamp')),
      },
    }),
  bodies: oddBodies,
})

const keys = generateKeys('p256')
const eventWebhook = new EventWebhook()
agree('@sendgrid/eventwebhook', sendgrid(keys), {
  verify: (sent) =>
    eventWebhook.verifySignature(
      eventWebhook.convertPublicKeyToECDSA(keys.publicKey),
      text(sent.body),
      header(sent, EventWebhookHeader.SIGNATURE().toLowerCase()),
      header(sent, EventWebhookHeader.TIMESTAMP().toLowerCase()),
    ),
  bodies: oddBodies,
})

const discordKeys = generateKeys('ed25519')
/** The form the developer portal shows: the last 32 bytes of the DER form, in hex. */
const discordKey = createPublicKey(discordKeys.publicKey)
  .export({ type: 'spki', format: 'der' })
  .subarray(-32)
  .toString('hex')
agree('discord-interactions', discord({ publicKey: discordKey, privateKey: discordKeys.privateKey }), {
  verify: (sent) =>
    verifyKey(
      sent.body,
      header(sent, 'x-signature-ed25519'),
      header(sent, 'x-signature-timestamp'),
      discordKey,
    ),
  bodies: oddBodies,
})

const pusherSecret = '7ad3773142a6692b25b8'
const pusherClient = new Pusher({
  appId: '3',
  key: '278d425bdf160c739803',
  secret: pusherSecret,
  cluster: 'eu',
})
agree('pusher', pusher({ secret: pusherSecret }), {
  verify: (sent) => pusherClient.webhook({ headers: sent.headers, rawBody: text(sent.body) }).isValid(),
})

interface Reference {
  readonly name: string
  readonly method: string
  readonly secret?: string
  readonly url: string
  readonly payload?: string
  readonly timestamp: string
  readonly token: string
  readonly valid: boolean
  readonly reason?: string
}
const require = createRequire(import.meta.url)
const messagebirdToken: {
  verify(url: string, payload: Buffer, token: string, key: KeyObject): Promise<unknown>
} = require('messagebird/lib/webhook-signature-jwt.js')
const messagebirdKey = '36efdd1aace2e26cd490f0d951138253bef2f7c6d34d18981da781555cc4cebb'
agree('messagebird', messagebird({ secret: messagebirdKey }), {
  verify: (sent) =>
    messagebirdToken.verify(
      sent.url,
      Buffer.from(sent.body),
      header(sent, 'messagebird-signature-jwt'),
      createSecretKey(Buffer.from(messagebirdKey)),
    ),
  bodies: oddBodies,
})

describe('MessageBird: the reference cases its libraries share', () => {
  const file = require.resolve('messagebird/lib/testdata/webhook-signature-jwt-reference.json')
  const references: Reference[] = JSON.parse(readFileSync(file, 'utf8'))
  test.each(references.map((reference) => [reference.name, reference] as const))(
    '%s',
    async (_, reference) => {
      const sent = {
        ...delivery(reference.payload ?? '', { 'messagebird-signature-jwt': reference.token }, reference.url),
        method: reference.method,
      }
      const source = messagebird({ secret: reference.secret ?? messagebirdKey })
      const verdict = await source.verify(sent, { now: Date.parse(reference.timestamp) })
      expect(verdict.ok, JSON.stringify({ verdict, reason: reference.reason })).toBe(reference.valid)
    },
  )
})

const authToken = '2c7d8b1f0a4e4e0d9c3b6a5f8e7d6c5b'
const form = 'application/x-www-form-urlencoded'
/** As a body parser gives it to Twilio's library: a repeated name is a list. */
function fields(body: string): Record<string, string | string[]> {
  const all = new URLSearchParams(body)
  return Object.fromEntries(
    [...new Set(all.keys())].map((name) => {
      const values = all.getAll(name)
      return [name, values.length === 1 ? values[0]! : values]
    }),
  )
}
const signedForm = (body: string, signedUrl: string, url = signedUrl) =>
  delivery(
    body,
    {
      'content-type': form,
      'x-twilio-signature': Twilio.getExpectedTwilioSignature(authToken, signedUrl, fields(body)),
    },
    url,
  )

agree('twilio', twilio({ secret: authToken }), {
  sign: ({ body, url }) => signedForm(body, url ?? 'https://example.com/hook'),
  verify: (sent) =>
    Twilio.validateRequest(authToken, header(sent, 'x-twilio-signature'), sent.url, fields(text(sent.body))),
})

describe('Twilio: URLs and forms', () => {
  const source = twilio({ secret: authToken })
  const plain = 'MessageSid=SM1&MessageStatus=delivered'
  const ours = async (sent: ReturnType<typeof signedForm>) => (await source.verify(sent, { now: 0 })).ok
  const theirs = (sent: ReturnType<typeof signedForm>) =>
    Twilio.validateRequest(authToken, header(sent, 'x-twilio-signature'), sent.url, fields(text(sent.body)))

  test.each([
    ['a query', plain, 'https://example.com/hook?foo=1&bar=2'],
    ['escapes in the query', plain, 'https://example.com/hook?a=%20b+c&d=%2F%3f'],
    ['a password', plain, 'https://user:pass@example.com/hook'],
    ['another port', plain, 'https://example.com:8443/hook'],
    ['no path', plain, 'https://example.com'],
    ['a slash at the end', plain, 'https://example.com/hook/'],
    ['names out of order', 'To=%2B1&From=%2B2&to=3&Body=hi', 'https://example.com/hook'],
    ['no value, no sign, spaces', 'Body=&Empty&Text=a+b%20c', 'https://example.com/hook'],
    ['a name twice', 'MediaUrl=b&MediaUrl=a&MediaUrl=b&Z=1', 'https://example.com/hook'],
    ['letters of the world', 'Body=J%C3%BCrgen%20%F0%9F%8E%89&From=%E6%BC%A2', 'https://example.com/hook'],
  ])('%s', async (_, body, url) => {
    const sent = signedForm(body, url)
    expect({ ours: await ours(sent), theirs: theirs(sent) }).toEqual({ ours: true, theirs: true })
    const made = await source.sign({ body, url, now: 0, headers: { 'content-type': form } })
    expect({ ours: await ours(made), theirs: theirs(made) }).toEqual({ ours: true, theirs: true })
    for (const tampered of [changed(sent), { ...sent, url: `${url}?x` }])
      expect({ ours: await ours(tampered), theirs: theirs(tampered) }).toEqual({ ours: false, theirs: false })
  })

  test.each([
    ['signed with the default port', 'https://example.com:443/hook?a=1', 'https://example.com/hook?a=1'],
    ['signed without the default port', 'https://example.com/hook', 'https://example.com:443/hook'],
    ['signed with port 80', 'http://example.com:80/hook', 'http://example.com/hook'],
    ['signed without another port', 'https://example.com/hook', 'https://example.com:8443/hook'],
    ['a password, with the default port', 'https://u:p@example.com:443/hook', 'https://u:p@example.com/hook'],
    ['a password, without the port', 'https://u:p@example.com/hook', 'https://u:p@example.com:443/hook'],
    ['no path, with the default port', 'https://example.com:443?a=1', 'https://example.com?a=1'],
    ['an IPv6 address', 'https://[2001:db8::1]:443/hook', 'https://[2001:db8::1]/hook'],
  ])('%s', async (_, signedUrl, url) => {
    const sent = signedForm(plain, signedUrl, url)
    expect({ ours: await ours(sent), theirs: theirs(sent) }).toEqual({ ours: true, theirs: true })
  })

  test('a JSON body stands in the URL as its hash', async () => {
    const body = '{"id":"evt_1","type":"com.twilio.messaging.message.delivered"}'
    const url = `https://example.com/hook?bodySHA256=${Twilio.getExpectedBodyHash(body)}`
    const signature = Twilio.getExpectedTwilioSignature(authToken, url, {})
    const sent = delivery(body, { 'x-twilio-signature': signature }, url)
    const made = await source.sign({
      body,
      url: 'https://example.com/hook',
      now: 0,
      headers: { 'content-type': 'application/json' },
    })
    const theirsOfBody = (each: typeof sent) =>
      Twilio.validateRequestWithBody(authToken, header(each, 'x-twilio-signature'), each.url, text(each.body))
    for (const each of [sent, made]) {
      expect({ ours: await ours(each), theirs: theirsOfBody(each) }).toEqual({ ours: true, theirs: true })
      const other = changed(each)
      expect({ ours: await ours(other), theirs: theirsOfBody(other) }).toEqual({ ours: false, theirs: false })
    }
  })
})
