import {
  composite,
  defineProvider,
  hmacScheme,
  join,
  minutes,
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
    },
    {
      // A closed view and a request for menu options have no id and are sent once: the signed time is the id.
      id: [
        'json:event_id',
        'json:trigger_id',
        composite('json:type', 'json:team_id', 'json:minute_rate_limited'),
        composite('hash', 'header:x-slack-request-timestamp'),
      ],
      type: ['json:event.type', 'json:type'],
      reference: ['json:event.channel', 'json:event.item.channel', 'json:channel.id'],
      otherwise: true,
    },
  ],
  handshakes: [
    { when: { 'json:type': 'url_verification' }, signed: true, reply: { text: '{json:challenge}' } },
  ],
  // Three retries: immediately, after one minute, after five. Delayed events, if enabled, are retried for a day.
  retryWindowMs: minutes(6),
  answer: { timeLimitMs: seconds(3) },
  keepHeaders: ['x-slack-retry-num', 'x-slack-retry-reason'],
  sampleId: 'Ev',
  samples: sampleFile('slack'),
})
