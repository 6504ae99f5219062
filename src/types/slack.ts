/** `import 'hookonce/types/slack'`: the callbacks of Slack's Events API, from the package `@slack/types`. */
import type { SlackEvent } from '@slack/types'

/** The event type is that of the inner event. */
export interface SlackCallback<Event> {
  readonly type: 'event_callback'
  readonly event: Event
  readonly event_id: string
  readonly event_time: number
  readonly team_id: string
  readonly api_app_id: string
}

type Subtyped = Extract<SlackEvent, { subtype: string }>

/** By type, such as `message`, and by type with subtype, such as `message.message_changed`. */
export type SlackEvents = {
  readonly [Type in SlackEvent['type']]: SlackCallback<Extract<SlackEvent, { type: Type }>>
} & {
  readonly [Event in Subtyped as `${Event['type']}.${Event['subtype']}`]: SlackCallback<Event>
}

declare module '../inbox/event-types.js' {
  interface ProviderEvents {
    readonly slack: SlackEvents
  }
}
