/** A Stripe that sends events to an inbox, and sometimes does not. */
import type { Inbox, InboxOptions, Source } from 'hookonce'
import { stripe } from 'hookonce/providers'
import type { Bench } from '../support/processing.js'
import { type SenderFake, type SentEvent, startSenderFake } from '../support/sender-apis/server.js'
import { type StripeFakeOptions, stripeApi } from '../support/sender-apis/stripe.js'

export const secret = 'whsec_0123456789abcdef0123456789abcdef'
export const apiKey = 'rk_test_reconcile0123456789'
export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS

type StripeOptions = Omit<Parameters<typeof stripe>[0], 'secret'>

export interface Sender {
  readonly fake: SenderFake
  source(more?: object): Source
  /** Something happens at the sender, so long ago. */
  happens(agoMs: number, more?: Partial<Happening>): SentEvent
  deliver(inbox: Inbox, event: SentEvent): Promise<void>
}

export interface Happening {
  readonly id: string
  readonly type: string
  readonly object: string
}

let made = 0

export async function stripeSender(options: StripeFakeOptions = {}): Promise<Sender> {
  const fake = await startSenderFake(stripeApi(options), apiKey)
  const source = (more: StripeOptions = {}) =>
    stripe({ secret, apiKey, baseUrl: fake.url, ...more }) as Source
  return {
    fake,
    source: source as Sender['source'],
    happens(agoMs, { id = `evt_${++made}`, type = 'invoice.paid', object = 'in_1' } = {}) {
      const occurredAt = Math.floor((Date.now() - agoMs) / 1_000) * 1_000
      const body = {
        id,
        object: 'event',
        type,
        created: occurredAt / 1_000,
        pending_webhooks: 1,
        data: { object: { id: object } },
      }
      const delivery = { method: 'POST', url: '/', headers: {}, body: Buffer.from(JSON.stringify(body)) }
      const event: SentEvent = { id, type, occurredAt, delivery }
      fake.events.push(event)
      return event
    },
    async deliver(inbox, { delivery }) {
      const signed = await source().sign({ body: delivery.body, now: Date.now() })
      const receipt = await inbox.receive('stripe', signed)
      if (receipt.httpStatus !== 200) throw new Error(`the delivery was answered with ${receipt.httpStatus}`)
    },
  }
}

/** An inbox whose handler writes the id of each event into the user's table. */
export function stripeInbox(
  bench: Bench,
  sender: Sender,
  source: object = {},
  options: Partial<InboxOptions> = {},
): Inbox {
  const { inbox } = bench.inbox({ ...options, sources: { stripe: sender.source(source) } })
  return inbox.on('stripe', '*', (event, ctx) => bench.write(ctx.tx, event.id))
}

/** Delivered before now, as after a spool or a long time: its time of arrival is that of the log. */
export async function arrived(
  store: ReturnType<Bench['store']>,
  event: SentEvent,
  receivedAt: number,
): Promise<void> {
  const { id, type, delivery } = event
  await store.record([
    {
      source: 'stripe',
      headers: {},
      body: delivery.body,
      events: [{ id, type, reference: null, contentHash: null, guardHash: null }],
      contentGuard: 'accept',
      receivedAt,
    },
  ])
}
