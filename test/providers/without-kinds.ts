/** Providers whose kinds of deliveries are not yet listed in src/providers/kinds. It only gets shorter. */
export const withoutKinds: readonly string[] = [
  'dropboxSign',
  'gocardless',
  'jira',
  'messagebird',
  'okta',
  'pusher',
  'segment',
]
