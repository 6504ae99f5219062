import {
  composite,
  defineProvider,
  hmacScheme,
  join,
  minutes,
  optional,
  seconds,
} from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const slack = defineProvider({
  key: 'slack',
  name: 'Slack (Events API, interactivity, slash commands)',
  docs: 'https://docs.slack.dev/authentication/verifying-requests-from-slack',
  confidence: 'verified',
  aliases: { signingSecret: 'secret' },
  verify: hmacScheme({
    signature: { in: 'header:x-slack-signature', prefix: 'v0=' },
    encoding: 'hex',
    signed: 'v0:{timestamp}:{body}',
    timestamp: { in: 'header:x-slack-request-timestamp', unit: 's' },
  }),
  // Interactivity is a form with the JSON in `payload`; a slash command is a plain form.
  document: { form: 'payload' },
  events: [
    {
      id: 'form:trigger_id',
      type: join('', 'const:command:', 'form:command'),
      reference: 'form:channel_id',
      references: { user: 'form:user_id', channel: 'form:channel_id', team: 'form:team_id' },
    },
    {
      // A closed view and a request for menu options have no id and are sent once: the signed time is the id.
      id: [
        'json:event_id',
        'json:trigger_id',
        composite('json:type', 'json:team_id', 'json:minute_rate_limited'),
        composite('hash', 'header:x-slack-request-timestamp'),
      ],
      // `message.message_changed`; `block_actions.approve` with the id that the app gave to the button; `view_submission.form`.
      type: [
        join('.', 'json:event.type', optional('json:event.subtype')),
        join(
          '.',
          'json:type',
          optional([
            'json:actions[].action_id',
            'json:action_id',
            'json:view.callback_id',
            'json:callback_id',
          ]),
        ),
      ],
      reference: [
        'json:event.channel',
        'json:event.item.channel',
        'json:event.channel.id',
        'json:event.channel_id',
        'json:channel.id',
        'json:container.channel_id',
        // A change of a user, an event in the home tab or in a view: those of one user.
        'json:event.user.id',
        'json:event.user',
        'json:user.id',
        'json:team_id',
      ],
      references: {
        user: [
          'json:event.user',
          'json:event.user.id',
          'json:event.message.user',
          'json:user.id',
          'json:user',
        ],
        channel: [
          'json:event.channel',
          'json:event.channel.id',
          'json:event.item.channel',
          'json:channel.id',
          'json:container.channel_id',
        ],
        team: ['json:team_id', 'json:team.id'],
      },
      otherwise: true,
    },
  ],
  handshakes: [
    { when: { 'json:type': 'url_verification' }, signed: true, reply: { text: '{json:challenge}' } },
  ],
  // Three retries: immediately, after one minute, after five. Delayed events, if enabled, are retried for a day.
  typeSeparator: '.',
  retryWindowMs: minutes(6),
  disables: {
    when: 'switches off the events of an app that answers fewer than 5 % of them with 200 within an hour',
    again: 'Switch them on again at api.slack.com/apps, Event Subscriptions.',
    docs: 'https://docs.slack.dev/apis/events-api/',
    confidence: 'verified',
  },
  answer: { timeLimitMs: seconds(3) },
  keepHeaders: ['x-slack-retry-num', 'x-slack-retry-reason'],
  sampleId: 'Ev',
  samples: sampleFile('slack'),
})
