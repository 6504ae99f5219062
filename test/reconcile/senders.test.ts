/** Each sender's list, through reconcile: what it lists gets the name and the payload that a delivery gives. */
import { createInbox, type Source } from 'hookonce'
import { catalogue } from 'hookonce/providers'
import { sqlite } from 'hookonce/sqlite'
import { expect, test } from 'vitest'
import * as payments from '../support/sender-apis/payments.js'
import * as platforms from '../support/sender-apis/platforms.js'
import { type SenderShape, type SentEvent, startSenderFake } from '../support/sender-apis/server.js'

const HOUR_MS = 3_600_000
/** Its other sample is a batch. */
const GOCARDLESS_TYPE = 'mandates.cancelled'

test.each<[keyof typeof catalogue, SenderShape, string, object]>([
  ['gocardless', payments.gocardlessApi(), 'live_1', {}],
  ['square', payments.squareApi(), 'EAAA', {}],
  ['chargebee', payments.chargebeeApi(), 'live_1', {}],
  ['paypal', payments.paypalApi(), 'id:secret', {}],
  ['paddle', payments.paddleApi(), 'pdl_live_1', {}],
  ['lithic', payments.lithicApi(), 'key', {}],
  ['workos', platforms.workosApi(), 'sk_1', { events: 'user.created' }],
  ['mailgun', platforms.mailgunApi(), 'key', { domain: 'mg.example.com' }],
  ['gitlab', platforms.gitlabApi(), 'glpat-1', { project: 'mike/diaspora', hook: '42' }],
  ['polar', platforms.polarApi(), 'polar_oat_1', { endpoint: 'we_1' }],
  ['resend', platforms.resendApi(), 're_1', { webhook: '4dd369bc' }],
  ['svix', platforms.svixApi(), 'sk_portal', { application: 'app_1', endpoint: 'ep_1' }],
  ['telnyx', platforms.telnyxApi(), 'KEY1', {}],
  ['okta', platforms.oktaApi(), '00key', {}],
  ['hookdeck', platforms.hookdeckApi(), 'hookdeckKey', { destination: 'des_1' }],
])(
  '%s: what was not delivered is handled once, also when it is delivered later',
  async (provider, shape, apiKey, options) => {
    const fake = await startSenderFake(shape, apiKey)
    const factory = catalogue[provider]
    const source = (factory as unknown as (options: object) => Source)({
      ...factory.example(),
      ...options,
      apiKey,
      baseUrl: fake.url,
    })
    const inbox = createInbox({ store: sqlite(':memory:'), sources: { sender: source } })
    const handled: { id: string; type: string; payload: unknown }[] = []
    inbox.on('sender', '*', ({ id, type, payload }) => void handled.push({ id, type, payload }))
    const deliver = async ({ delivery }: SentEvent) => (await inbox.receive('sender', delivery)).status
    try {
      const now = Date.now()
      const type = provider === 'gocardless' && { type: GOCARDLESS_TYPE }
      for (let i = 0; i < 3; i++) {
        const occurredAt = Math.trunc((now - 2 * HOUR_MS) / 1_000) * 1_000 + i * 1_000
        const delivery = await source.sign({
          ...source.sample({ ...type, id: `evt_${i}`, now: occurredAt }),
          now: now + i,
        })
        const [event] = source.identify(delivery)
        fake.events.push({ id: event!.id, type: event!.type, occurredAt, delivery })
      }
      const [first, second, third] = fake.events
      expect(await deliver(first!)).toBe('accepted')

      const report = await inbox.reconcile('sender', { since: '6h' })
      expect(report).toMatchObject({
        listed: 3,
        known: 1,
        missing: 2,
        recovered: 2,
        extra: 0,
        unsubscribed: 0,
      })
      await inbox.drain()
      expect(await deliver(second!)).toBe('already_processed')
      expect(await inbox.reconcile('sender', { since: '6h' })).toMatchObject({
        listed: 3,
        known: 3,
        missing: 0,
      })
      await inbox.drain()

      expect(handled.map(({ id }) => id).sort()).toEqual([first, second, third].map((one) => one!.id).sort())
      for (const { delivery, id } of [second!, third!]) {
        const [event] = source.identify(delivery)
        const got = handled.find((one) => one.id === id)
        expect(got).toMatchObject({ type: event!.type })
        // The fakes add fields and times of their own, and change no other.
        expect(Object.keys(got!.payload as object)).toEqual(
          expect.arrayContaining(commonKeys(event!.payload)),
        )
      }
      expect((await inbox.events.get({ source: 'sender', id: second!.id }))!.conflicts).toBe(0)
    } finally {
      await inbox.stop()
      await fake.close()
    }
  },
)

/** Without what belongs to the delivery: the signature of Mailgun, and the attempt of Telnyx. */
function commonKeys(payload: unknown): string[] {
  return Object.keys(payload as object).filter((key) => !['signature', 'meta'].includes(key))
}
