/** `import 'hookonce/types/stripe'`: the payloads of Stripe's events, from the package `stripe`. */
import type Stripe from 'stripe'

export type StripeEvents = {
  readonly [Type in Stripe.Event['type']]: Extract<Stripe.Event, { type: Type }>
}

declare module '../inbox/event-types.js' {
  interface ProviderEvents {
    readonly stripe: StripeEvents
  }
}
