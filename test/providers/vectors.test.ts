/** Signatures published by the senders or made by their own libraries: the contract signs with our own code, these do not. */
import {
  adyen,
  box,
  github,
  gocardless,
  hubspot,
  hubspotV1,
  line,
  openai,
  polar,
  sendgrid,
  shopify,
  slack,
  square,
  standardWebhooks,
  svix,
} from 'hookonce/providers'
import { expect, test } from 'vitest'

const ok = { ok: true, secretIndex: 0 }
const bytes = (text: string) => new TextEncoder().encode(text)
const delivery = (headers: Record<string, string>, body: string, url = 'https://example.com/hook') => ({
  method: 'POST',
  url,
  headers,
  body: bytes(body),
})

test('GitHub: the example of its documentation', () => {
  const source = github({ secret: "It's a Secret to Everybody" })
  const signature = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17'
  expect(source.verify(delivery({ 'x-hub-signature-256': signature }, 'Hello, World!'), { now: 0 })).toEqual(
    ok,
  )
})

test('Slack: the example of its documentation', () => {
  const source = slack({ secret: '8f742231b10e8888abcd99yyyzzz85a5' })
  const body =
    'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar' +
    '&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com' +
    '%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c'
  const sent = delivery(
    {
      'x-slack-request-timestamp': '1531420618',
      'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
      'content-type': 'application/x-www-form-urlencoded',
    },
    body,
  )
  expect(source.verify(sent, { now: 1_531_420_618_000 })).toEqual(ok)
  expect(source.identify(sent)).toMatchObject([
    {
      id: '398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
      type: 'command:/webhook-collect',
      reference: 'G8PSS9T3V',
    },
  ])
})

test('Standard Webhooks: the example of its libraries', () => {
  const source = standardWebhooks({ secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' })
  const headers = {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  }
  expect(source.verify(delivery(headers, '{"test": 2432232314}'), { now: 1_614_265_330_000 })).toEqual(ok)
})

test('Svix: the example of its documentation', () => {
  const source = svix({ secret: 'whsec_plJ3nmyCDGBKInavdOK15jsl' })
  const headers = {
    'svix-id': 'msg_loFOjxBNrRLzqYUf',
    'svix-timestamp': '1731705121',
    'svix-signature': 'v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=',
  }
  const body = '{"event_type":"ping","data":{"success":true}}'
  expect(source.verify(delivery(headers, body), { now: 1_731_705_121_000 })).toEqual(ok)
})

test('Adyen: the vector of its library', () => {
  const source = adyen({ secret: '44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056' })
  const item = {
    pspReference: '7914073381342284',
    originalReference: '',
    merchantAccountCode: 'TestMerchant',
    merchantReference: 'TestPayment-1407325143704',
    amount: { currency: 'EUR', value: 1130 },
    eventCode: 'AUTHORISATION',
    success: 'true',
    additionalData: { hmacSignature: 'coqCmt/IZ4E3CzPvMY8zTjQVL5hYJUiBRg8UU+iCWo0=' },
  }
  const body = JSON.stringify({ live: 'false', notificationItems: [{ NotificationRequestItem: item }] })
  expect(source.verify(delivery({}, body), { now: 0 })).toEqual(ok)
})

test('SendGrid: the vector of its library', () => {
  const source = sendgrid({
    publicKey:
      'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE83T4O/n84iotIvIW4mdBgQ/7dAfSmpqIM8kF9mN1flpVKS3GRqe62gw+2fNNRaINXvVpiglSI8eNEc6wEA3F+g==',
  })
  const body = `${JSON.stringify([
    {
      email: 'hello@world.com',
      event: 'dropped',
      reason: 'Bounced Address',
      sg_event_id: 'ZHJvcC0xMDk5NDkxOS1MUnpYbF9OSFN0T0doUTRrb2ZTbV9BLTA',
      sg_message_id: 'LRzXl_NHStOGhQ4kofSm_A.filterdrecv-p3mdw1-756b745b58-kmzbl-18-5F5FC76C-9.0',
      'smtp-id': '<LRzXl_NHStOGhQ4kofSm_A@ismtpd0039p1iad1.sendgrid.net>',
      timestamp: 1600112492,
    },
  ])}\r\n`
  const headers = {
    'x-twilio-email-event-webhook-signature':
      'MEUCIGHQVtGj+Y3LkG9fLcxf3qfI10QysgDWmMOVmxG0u6ZUAiEAyBiXDWzM+uOe5W0JuG+luQAbPIqHh89M15TluLtEZtM=',
    'x-twilio-email-event-webhook-timestamp': '1600112502',
  }
  expect(source.verify(delivery(headers, body), { now: 1_600_112_502_000 })).toEqual(ok)
})

test('HubSpot version 1: the example of its documentation', () => {
  const source = hubspotV1({ secret: 'yyyyyyyy-yyyy-yyyy-yyyy-yyyyyyyyyyyy' })
  const body =
    '[{"eventId":1,"subscriptionId":12345,"portalId":62515,"occurredAt":1564113600000,"subscriptionType":"contact.creation",' +
    '"attemptNumber":0,"objectId":123,"changeSource":"CRM","changeFlag":"NEW","appId":54321}]'
  const signature = '232db2615f3d666fe21a8ec971ac7b5402d33b9a925784df3ca654d05f4817de'
  expect(source.verify(delivery({ 'x-hubspot-signature': signature }, body), { now: 0 })).toEqual(ok)
})

test('OpenAI: the vector of its libraries', () => {
  const source = openai({ secret: 'whsec_RdvaYFYUXuIFuEbvZHwMfYFhUf7aMYjYcmM24+Aj40c=' })
  const body =
    '{"id": "evt_685c059ae3a481909bdc86819b066fb6", "object": "event", "created_at": 1750861210, "type": "response.completed", "data": {"id": "resp_123"}}'
  const headers = {
    'webhook-id': 'wh_685c059ae39c8190af8c71ed1022a24d',
    'webhook-timestamp': '1750861210',
    'webhook-signature': 'v1,gUAg4R2hWouRZqRQG4uJypNS8YK885G838+EHb4nKBY=',
  }
  expect(source.verify(delivery(headers, body), { now: 1_750_861_210_000 })).toEqual(ok)
})

test('Box: the vector of its libraries, with either key', () => {
  const body =
    '{"type":"webhook_event","webhook":{"id":"1234567890"},"trigger":"FILE.UPLOADED","source":{"id":"1234567890","type":"file","name":"Test.txt"}}'
  const headers = {
    'box-delivery-id': 'f96bb54b-ee16-4fc5-aa65-8c2d9e5b546f',
    'box-delivery-timestamp': '2020-01-01T00:00:00-07:00',
    'box-signature-algorithm': 'HmacSHA256',
    'box-signature-primary': '6TfeAW3A1PASkgboxxA5yqHNKOwFyMWuEXny/FPD5hI=',
    'box-signature-secondary': 'v+1CD1Jdo3muIcbpv5lxxgPglOqMfsNHPV899xWYydo=',
    'box-signature-version': '1',
  }
  for (const secret of ['SamplePrimaryKey', 'SampleSecondaryKey']) {
    const now = Date.parse('2020-01-01T07:00:00Z')
    expect(box({ secret }).verify(delivery(headers, body), { now })).toEqual(ok)
  }
})

test('GoCardless: the vector of its libraries', () => {
  const source = gocardless({ secret: 'ED7D658C-D8EB-4941-948B-3973214F2D49' })
  const body =
    '{"events":[{"id":"EV00BD05S5VM2T","created_at":"2018-07-05T09:13:51.404Z","resource_type":"subscriptions","action":"created",' +
    '"links":{"subscription":"SB0003JJQ2MR06"},"details":{"origin":"api","cause":"subscription_created",' +
    '"description":"Subscription created via the API."},"metadata":{}},{"id":"EV00BD05TB8K63","created_at":"2018-07-05T09:13:56.893Z",' +
    '"resource_type":"mandates","action":"created","links":{"mandate":"MD000AMA19XGEC"},"details":{"origin":"api",' +
    '"cause":"mandate_created","description":"Mandate created via the API."},"metadata":{}}]}'
  const signature = '2693754819d3e32d7e8fcb13c729631f316c6de8dc1cf634d6527f1c07276e7e'
  const sent = delivery({ 'webhook-signature': signature }, body)
  expect(source.verify(sent, { now: 0 })).toEqual(ok)
  expect(source.identify(sent)).toMatchObject([
    { id: 'EV00BD05S5VM2T', type: 'subscriptions.created', reference: 'SB0003JJQ2MR06' },
    { id: 'EV00BD05TB8K63', type: 'mandates.created', reference: 'MD000AMA19XGEC' },
  ])
})

/** Libraries too large to install for a test (see `sdks/` for the others): made or accepted once by the version named. */
const secret = '5f1c9a1e-2b3c-4d5e-8f90-a1b2c3d4e5f6'
const at = 1_700_000_000_000

test.each([
  ['https://example.com/hook?a=1', 'iqPjJVklAF3QsoN4wBA4ymLf4DHZKAAtdF3gxMp4XIM='],
  ['https://example.com/hook?a=b@c:d/e', 'rgKZapzdPl/5WOY/GCRU4sVnYhykYxJOzlIDUnhDF1A='],
  // The same, as a sender that escapes would call it: signed unescaped, by its documentation.
  ['https://example.com/hook?a=b%40c%3Ad%2fe', 'rgKZapzdPl/5WOY/GCRU4sVnYhykYxJOzlIDUnhDF1A='],
])('HubSpot version 3: made by @hubspot/api-client 13.5.0 (%s)', (url, signature) => {
  const body =
    '[{"eventId":1,"subscriptionId":12345,"portalId":62515,"subscriptionType":"contact.creation","objectId":123}]'
  const headers = { 'x-hubspot-signature-v3': signature, 'x-hubspot-request-timestamp': String(at) }
  expect(hubspot({ secret }).verify(delivery(headers, body, url), { now: at })).toEqual(ok)
})

test.each([
  [
    'a reference with a colon',
    {
      originalReference: 'O1',
      merchantReference: 'a:b\\c é',
      amount: { currency: 'EUR', value: 1130 },
      eventCode: 'REFUND',
      success: 'true',
    },
    'mAwbiNkcm3ePSEyDofJnKO80vVtUtabhNyf7GzxozLM=',
  ],
  [
    'an empty reference',
    {
      merchantReference: '',
      amount: { currency: 'EUR', value: 0 },
      eventCode: 'AUTHORISATION',
      success: 'false',
    },
    'GKrrcQJnRBSYo4Iv1vgw9wnIfqgk3umgd/c5NDfXsJk=',
  ],
  [
    'no reference',
    {
      merchantReference: null,
      amount: { currency: 'EUR', value: 0 },
      eventCode: 'AUTHORISATION',
      success: 'false',
    },
    'GKrrcQJnRBSYo4Iv1vgw9wnIfqgk3umgd/c5NDfXsJk=',
  ],
  [
    'success as a boolean',
    {
      merchantReference: 'x',
      amount: { currency: 'EUR', value: 5 },
      eventCode: 'AUTHORISATION',
      success: true,
    },
    'SHkR3Fha+KuPh2pxfzHupZTnA+m4nkY6fjMl0O/5q4M=',
  ],
])('Adyen: made by @adyen/api-library 32.1.0 (%s)', (_, fields, hmacSignature) => {
  const source = adyen({ secret: '44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056' })
  const item = { pspReference: 'P1', merchantAccountCode: 'M', ...fields, additionalData: { hmacSignature } }
  const body = JSON.stringify({ live: 'false', notificationItems: [{ NotificationRequestItem: item }] })
  expect(source.verify(delivery({}, body), { now: 0 })).toEqual(ok)
})

test('Shopify: accepted by @shopify/shopify-api 13.1.0', () => {
  const headers = { 'x-shopify-hmac-sha256': 'PZBqXhsLmiFmU4hssT+57H0btecK0ipVQtrwrrv0uqQ=' }
  const body = '{"id":820982911946154508,"name":"Jürgen"}'
  expect(shopify({ secret }).verify(delivery(headers, body), { now: 0 })).toEqual(ok)
})

test('Square: accepted by square 46.0.0', () => {
  const headers = { 'x-square-hmacsha256-signature': '7OM4x2qwC8MB9LAtNdEcxovoavgnl3k20hhdyXO/q+Y=' }
  const body = '{"event_id":"e1","type":"payment.created","name":"Jürgen"}'
  const sent = delivery(headers, body, 'https://example.com/hook?a=1')
  expect(square({ secret }).verify(sent, { now: 0 })).toEqual(ok)
})

test('LINE: accepted by @line/bot-sdk 10.8.0', () => {
  const headers = { 'x-line-signature': 'vD2wJGAJ+PrGhJPK4AGkKTLnCJhGB7T5z1kQvwuuPDk=' }
  expect(line({ secret }).verify(delivery(headers, '{"destination":"U1","events":[]}'), { now: 0 })).toEqual(
    ok,
  )
})

test('Polar: made as @polar-sh/sdk 0.49.0 does', () => {
  const source = polar({ secret: 'polar_whs_5f1c9a1e2b3c4d5e8f90a1b2c3d4e5f6' })
  const headers = {
    'webhook-id': 'msg_1',
    'webhook-timestamp': '1700000000',
    'webhook-signature': 'v1,7RokPSfbdm2uX55fDvxMtzwocv8LGRmMpj1s7Y5+2No=',
  }
  const body = '{"type":"order.paid","data":{"id":"o1"}}'
  expect(source.verify(delivery(headers, body), { now: at })).toEqual(ok)
})
