/**
 * The types that `inbox.on` knows: the names of the sources, the event types of their providers, and the payloads of these.
 * Payload types come from the official package of a provider: `import 'hookonce/types/stripe'` adds those of Stripe.
 */
import type { Source } from '../provider.js'

/** The payloads of a provider by event type. Filled by `hookonce/types/*`; a module of your own can add others. */
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

/** The payload of a type or of a glob such as `invoice.*`; `unknown` where no package describes it. */
export type PayloadOf<S, Pattern extends string> = [Matching<EventsOf<S>, Pattern>] extends [never]
  ? unknown
  : Matching<EventsOf<S>, Pattern>
