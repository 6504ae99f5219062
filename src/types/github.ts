/**
 * `import 'hookonce/types/github'`: the payloads of GitHub's events, from the package `@octokit/webhooks-types`.
 * `pull_request.opened` has the payload of that action, `pull_request` those of all its actions.
 */
import type { EventPayloadMap } from '@octokit/webhooks-types'

type ActionsOf<Name extends keyof EventPayloadMap> = EventPayloadMap[Name] extends {
  readonly action: infer Action extends string
}
  ? Action
  : never

type WithAction = {
  [Name in keyof EventPayloadMap]: `${Name}.${ActionsOf<Name>}`
}[keyof EventPayloadMap]

type PayloadWithAction<Type extends string> =
  Type extends `${infer Name extends keyof EventPayloadMap}.${infer Action}`
    ? Extract<EventPayloadMap[Name], { action: Action }>
    : never

export type GithubEvents = EventPayloadMap & { readonly [Type in WithAction]: PayloadWithAction<Type> }

declare module '../inbox/event-types.js' {
  interface ProviderEvents {
    readonly github: GithubEvents
  }
}
