import type { Delivery } from 'hookonce'
import { braintree, paddle, razorpay, stripe } from 'hookonce/providers'
import Stripe from 'stripe'
import { describe, expect, test } from 'vitest'
import { installExtras } from '../../../scripts/extras.mjs'
import { agree, delivery, header, oddBodies, text } from './oracle.js'

await installExtras('sdks')
const { Paddle, Environment: PaddleEnvironment } = await import('@paddle/paddle-node-sdk')
const { BraintreeGateway, Environment } = await import('braintree')
const { default: Razorpay } = await import('razorpay')

const secret = 'whsec_test_secret'
const { webhooks } = new Stripe('sk_test_unused')
const inSeconds = (now: number) => Math.floor(now / 1000)

agree('stripe', stripe({ secret }), {
  sign: ({ body, now }) =>
    delivery(body, {
      'stripe-signature': webhooks.generateTestHeaderString({
        payload: body,
        secret,
        timestamp: inSeconds(now),
      }),
    }),
  verify: (sent) => webhooks.constructEvent(text(sent.body), header(sent, 'stripe-signature'), secret),
  bodies: oddBodies,
})

describe('Stripe: what else stands in its header', () => {
  const body = '{"id":"evt_1","object":"event","type":"invoice.paid"}'
  const now = Date.now()
  const sign = (timestamp: number, scheme = 'v1', key = secret) =>
    webhooks.generateTestHeaderString({ payload: body, secret: key, timestamp, scheme })
  const theirs = (signature: string) => {
    try {
      return webhooks.constructEvent(body, signature, secret).id === 'evt_1'
    } catch {
      return false
    }
  }
  const ours = async (signature: string) =>
    (await stripe({ secret }).verify(delivery(body, { 'stripe-signature': signature }), { now })).ok
  const at = inSeconds(now)
  const [, other] = sign(at, 'v1', 'whsec_another').split(',')
  const [, good] = sign(at).split(',')

  test.each([
    ['a second signature after it', `t=${at},${good},${other}`, true],
    ['a second signature before it', `t=${at},${other},${good}`, true],
    [
      'the test scheme beside it',
      `${sign(at)},v0=6ffbb59b2300aae63f272406069a9788598b792a944a07aba816edb039989a39`,
      true,
    ],
    ['only another scheme', sign(at, 'v0'), false],
    ['only another secret', `t=${at},${other}`, false],
    ['ten minutes old', sign(at - 600), false],
    ['no timestamp', String(good), false],
  ])('%s', async (_, signature, believed) => {
    expect({ ours: await ours(signature), theirs: theirs(signature) }).toEqual({
      ours: believed,
      theirs: believed,
    })
  })
})

const paddleSecret = 'pdl_ntfset_01hbbf2mqn3fdpkfhs6mb9qx4y_8fVqB3sG'
const paddleClient = new Paddle('unused', { environment: PaddleEnvironment.sandbox })
agree('@paddle/paddle-node-sdk', paddle({ secret: paddleSecret }), {
  verify: (sent) =>
    paddleClient.webhooks.isSignatureValid(text(sent.body), paddleSecret, header(sent, 'paddle-signature')),
  bodies: oddBodies,
})

const razorpaySecret = 'a-webhook-secret-of-razorpay'
agree('razorpay', razorpay({ secret: razorpaySecret }), {
  verify: (sent) =>
    Razorpay.validateWebhookSignature(text(sent.body), header(sent, 'x-razorpay-signature'), razorpaySecret),
  bodies: oddBodies,
})

describe('Braintree and braintree', () => {
  const publicKey = 'jkq28pcxj4r85dwr'
  const privateKey = '66062a3876e2dc298f2195f0bf173f5a'
  const source = braintree({ secret: privateKey, publicKey })
  const gateway = new BraintreeGateway({
    environment: Environment.Sandbox,
    merchantId: 'integration_merchant_id',
    publicKey,
    privateKey,
  })
  const posted = (fields: { bt_signature: string; bt_payload: string }) =>
    delivery(new URLSearchParams(fields).toString(), { 'content-type': 'application/x-www-form-urlencoded' })
  const ours = async (sent: Delivery) => (await source.verify(sent, { now: 0 })).ok
  const theirs = async (sent: Delivery) => {
    const form = new URLSearchParams(text(sent.body))
    try {
      await gateway.webhookNotification.parse(form.get('bt_signature') ?? '', form.get('bt_payload') ?? '')
      return true
    } catch (error) {
      // Signed, but leaving out members that its classes take for granted, as our samples do: another error.
      if (error instanceof Error && error.name === 'invalidSignatureError') return false
      if (error instanceof TypeError) return true
      throw error
    }
  }
  const both = async (sent: Delivery, believed: boolean) =>
    expect({ ours: await ours(sent), theirs: await theirs(sent) }).toEqual({
      ours: believed,
      theirs: believed,
    })

  test.each([
    'subscription_charged_successfully',
    'dispute_opened',
    'transaction_settled',
    'sub_merchant_account_approved',
  ] as const)('%s: we believe what it signs', async (kind) => {
    const sample = await gateway.webhookTesting.sampleNotification(kind, 'my_id')
    const sent = posted(sample)
    await both(sent, true)
    expect(source.identify(sent)).toMatchObject([{ type: kind, reference: 'my_id' }])
    // A line end lost on the way, as its library allows for.
    await both(posted({ ...sample, bt_payload: sample.bt_payload.replace(/\n$/, '') }), true)
    await both(posted({ ...sample, bt_payload: `QUJD${sample.bt_payload.slice(4)}` }), false)
    await both(posted({ ...sample, bt_signature: sample.bt_signature.replace(publicKey, 'another') }), false)
    await both(posted({ ...sample, bt_signature: `another|0000&${sample.bt_signature}` }), true)
  })

  test.each(source.sampleTypes)('%s: it believes what we sign', async (type) => {
    const sent = await source.sign(source.sample({ type, now: Date.now() }))
    await both(sent, true)
    const form = new URLSearchParams(text(sent.body))
    const [signature, payload] = [form.get('bt_signature')!, form.get('bt_payload')!]
    await both(posted({ bt_signature: signature, bt_payload: `QUJD${payload.slice(4)}` }), false)
  })
})
