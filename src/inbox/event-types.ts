/**
 * Types for `inbox.on`. Payload types come from the official package of a provider: `import 'hookonce/types/stripe'` adds
 * those of Stripe.
 */
import type { Source } from '../provider.js'

/** Payloads of a provider by event type. `hookonce/types/*` fill it, and your own modules can add others. */
// biome-ignore lint/suspicious/noEmptyInterface: it is filled by declaration merging
export interface ProviderEvents {}

export type Sources = Readonly<Record<string, Source>>

type NoEvents = Readonly<Record<never, never>>

type EventsOf<S> =
  S extends Source<infer Key> ? (Key extends keyof ProviderEvents ? ProviderEvents[Key] : NoEvents) : NoEvents

/** The known types of a source, and any other text: senders add types, and a glob is one too. */
export type EventTypeOf<S> = (keyof EventsOf<S> & string) | (string & {})

type Matching<Events, Pattern extends string> = Pattern extends keyof Events
  ? Events[Pattern]
  : Pattern extends `${infer Start}*`
    ? Events[Extract<keyof Events, `${Start}${string}`>]
    : never

/** `Pattern` may be a glob such as `invoice.*`. `unknown` where no package describes the payload. */
export type PayloadOf<S, Pattern extends string> = [Matching<EventsOf<S>, Pattern>] extends [never]
  ? unknown
  : Matching<EventsOf<S>, Pattern>
