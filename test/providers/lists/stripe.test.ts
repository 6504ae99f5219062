import { stripe } from 'hookonce/providers'
import Stripe from 'stripe'
import { expect, test } from 'vitest'
import { startSenderFake } from '../../support/sender-apis/server.js'
import { stripeApi } from '../../support/sender-apis/stripe.js'
import { listContract, noon } from './contract.js'

listContract({ factory: stripe, key: 'rk_test_listsEvents', shape: stripeApi() })

test('the official client reads the same events from the fake', async () => {
  const fake = await startSenderFake(stripeApi(), 'rk_test_listsEvents')
  try {
    for (let i = 0; i < 130; i++) {
      const body = { id: `evt_${i}`, object: 'event', type: 'invoice.paid', data: { object: { id: 'in_1' } } }
      const delivery = { method: 'POST', url: '/', headers: {}, body: Buffer.from(JSON.stringify(body)) }
      fake.events.push({ id: body.id, type: body.type, occurredAt: noon + i * 1_000, delivery })
    }
    const { hostname: host, port } = new URL(fake.url)
    const client = new Stripe(fake.key, { host, port: Number(port), protocol: 'http', telemetry: false })
    const created = { gte: noon / 1_000 + 5, lt: noon / 1_000 + 125 }
    const ids: string[] = []
    for await (const event of client.events.list({ created, limit: 100 })) ids.push(event.id)
    expect(ids).toHaveLength(120)
    const { list } = stripe({ secret: 'whsec_0123456789abcdef', apiKey: fake.key, baseUrl: fake.url })
    const own: string[] = []
    const range = { since: noon + 5_000, until: noon + 125_000 }
    for await (const page of list!.open({ signal: AbortSignal.timeout(30_000) }).pages(range))
      own.push(...page.map(({ id }) => id))
    expect(own).toEqual(ids)
    expect((await client.events.retrieve('evt_7')).type).toBe('invoice.paid')
  } finally {
    await fake.close()
  }
})
