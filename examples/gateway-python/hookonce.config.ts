/** hookonce receives, verifies and records; the Python app gets each event as a signed POST. */
import { defineConfig, env } from 'hookonce'
import { stripe } from 'hookonce/providers'

export default defineConfig({
  store: process.env.HOOKONCE_STORE ?? 'sqlite:events.db',
  sources: { stripe: stripe({ secret: env('STRIPE_WEBHOOK_SECRET') }) },
  destinations: {
    shop: {
      url: process.env.SHOP_URL ?? 'http://127.0.0.1:8000/webhooks',
      secret: () => process.env.SHOP_SECRET ?? '',
      sources: ['stripe'],
      types: ['invoice.*'],
      allowPrivate: ['127.0.0.0/8'], // the app is on this machine
    },
  },
  server: { admin: false },
})
