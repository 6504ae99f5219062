/** Checked by the compiler: what `inbox.on` knows of its sources. Nothing here runs. */
import { createInbox, defineConfig, env } from 'hookonce'
import { type PostgresTx, postgres } from 'hookonce/postgres'
import { github, hmac, shopify, slack, stripe } from 'hookonce/providers'
import { type SqliteTx, sqlite } from 'hookonce/sqlite'
import 'hookonce/types'
import 'hookonce/types/github'
import 'hookonce/types/slack'
import 'hookonce/types/stripe'
import type { PullRequestOpenedEvent } from '@octokit/webhooks-types'
import type Stripe from 'stripe'

declare module 'hookonce/types' {
  interface ProviderEvents {
    readonly shopify: { readonly 'orders/paid': { readonly id: number } }
  }
}

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
function same<A, B>(_is: Same<A, B>): void {}

const sources = {
  stripe: stripe({ secret: 's' }),
  github: github({ secret: 's' }),
  slack: slack({ secret: 's' }),
  shopify: shopify({ secret: 's' }),
  shop: hmac({ secret: 's', header: 'x-signature', id: 'json:id' }),
}

const inbox = createInbox({ store: postgres({ url: env('DATABASE_URL') }), sources })

inbox
  .on('stripe', 'invoice.paid', (event, ctx) => {
    same<typeof event.payload, Stripe.InvoicePaidEvent>(true)
    same<typeof ctx.tx, PostgresTx>(true)
  })
  .on('stripe', 'invoice.*', ({ payload }) => {
    const type: `invoice.${string}` = payload.type
    return type
  })
  .on('github', 'pull_request.opened', ({ payload }) => same<typeof payload, PullRequestOpenedEvent>(true))
  .on('github', 'pull_request', ({ payload }) => payload.pull_request.number)
  .on('slack', 'app_mention', ({ payload }) => payload.event.text)
  .on('slack', 'message.message_changed', ({ payload }) => payload.event.previous_message)
  .on('stripe', 'a.type.of.next.year', ({ payload }) => same<typeof payload, unknown>(true))
  .on('shopify', 'orders/paid', ({ payload }) => same<typeof payload.id, number>(true))
  .on('shop', 'order.paid', ({ payload }) => same<typeof payload, unknown>(true))

// @ts-expect-error: there is no source of this name
inbox.on('strpe', 'invoice.paid', () => {})
// @ts-expect-error: nor here
inbox.onBatch('gihub', 'push', () => {})
inbox.onBatch('github', 'push', (events) => events.map(({ payload }) => payload.ref))

const schema = {
  '~standard': {
    version: 1 as const,
    vendor: 'test',
    validate: () => ({ value: { total: 1 } }),
    types: undefined as unknown as { input: unknown; output: { total: number } },
  },
}
inbox.on('shop', 'order.paid', ({ payload }) => same<typeof payload, { total: number }>(true), { schema })

// An inbox whose sources are not known takes any name.
const anyNames = createInbox({
  store: 'sqlite::memory:',
  sources: {} as Record<string, ReturnType<typeof stripe>>,
})
anyNames.on('whatever', '*', () => {})

createInbox({ store: sqlite('events.db'), sources }).on('stripe', '*', (_event, ctx) =>
  same<typeof ctx.tx, SqliteTx>(true),
)

export default defineConfig({
  store: postgres({ url: env('DATABASE_URL') }),
  sources: { stripe: stripe({ secret: env('STRIPE_SECRET') }) },
  handlers(configured) {
    configured.on('stripe', 'invoice.paid', (event, ctx) => {
      same<typeof ctx.tx, PostgresTx>(true)
      return event.payload.data.object.id
    })
    // @ts-expect-error: the configuration has no such source
    configured.on('github', 'push', () => {})
  },
})
