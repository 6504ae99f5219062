import { resend, standardWebhooks, svix } from 'hookonce/providers'
import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { installExtras } from '../../../scripts/extras.mjs'
import { agree, delivery, header, oddBodies, text } from './oracle.js'

await installExtras('sdks')
const { Resend } = await import('resend')
const { Webhook: SvixWebhook } = await import('svix')

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

const standard = new Webhook(secret)
agree('standardwebhooks', standardWebhooks({ secret }), {
  sign: ({ body, now }) =>
    delivery(body, {
      'webhook-id': 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W',
      'webhook-timestamp': String(Math.floor(now / 1000)),
      'webhook-signature': standard.sign('msg_2KWPBgLlAfxdpx2AI54pPJ85f4W', new Date(now), body),
    }),
  verify: ({ body, headers }) => standard.verify(text(body), { ...headers }),
  bodies: oddBodies,
})

const branded = new SvixWebhook(secret)
agree('svix', svix({ secret }), {
  sign: ({ body, now }) =>
    delivery(body, {
      'svix-id': 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W',
      'svix-timestamp': String(Math.floor(now / 1000)),
      'svix-signature': branded.sign('msg_2KWPBgLlAfxdpx2AI54pPJ85f4W', new Date(now), body),
    }),
  verify: ({ body, headers }) => branded.verify(text(body), { ...headers }),
  bodies: oddBodies,
})

const client = new Resend('re_unused')
agree('resend', resend({ secret }), {
  verify: (sent) =>
    client.webhooks.verify({
      payload: text(sent.body),
      headers: {
        id: header(sent, 'svix-id'),
        timestamp: header(sent, 'svix-timestamp'),
        signature: header(sent, 'svix-signature'),
      },
      webhookSecret: secret,
    }),
  bodies: oddBodies,
})

describe('the header of several signatures', () => {
  test.each([
    ['an old one beside it', (good: string) => `v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc= ${good}`],
    ['a later version beside it', (good: string) => `v1a,b25l ${good} v2,dHdv`],
  ])('%s is believed by both', async (_, write) => {
    const now = Date.now()
    const body = '{"type":"contact.created"}'
    const headers = {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(Math.floor(now / 1000)),
      'webhook-signature': write(standard.sign('msg_1', new Date(now), body)),
    }
    expect(standard.verify(body, headers)).toEqual({ type: 'contact.created' })
    expect(await standardWebhooks({ secret }).verify(delivery(body, headers), { now })).toEqual({
      ok: true,
      secretIndex: 0,
    })
  })

  test('the id and the time are signed too', async () => {
    const now = Date.now()
    const body = '{"type":"contact.created"}'
    const good = {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(Math.floor(now / 1000)),
      'webhook-signature': standard.sign('msg_1', new Date(now), body),
    }
    for (const headers of [
      { ...good, 'webhook-id': 'msg_2' },
      { ...good, 'webhook-timestamp': String(Math.floor(now / 1000) - 1) },
    ]) {
      expect(() => standard.verify(body, headers)).toThrow('No matching signature')
      expect(await standardWebhooks({ secret }).verify(delivery(body, headers), { now })).toEqual({
        ok: false,
        reason: 'bad_signature',
      })
    }
  })
})
