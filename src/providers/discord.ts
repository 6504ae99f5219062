import {
  choose,
  defineProvider,
  ed25519Scheme,
  join,
  mapped,
  minutes,
  optional,
  seconds,
} from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const discord = defineProvider({
  key: 'discord',
  name: 'Discord (webhook events, interactions)',
  docs: 'https://docs.discord.com/developers/events/webhook-events',
  confidence: 'verified',
  // The public key of the application, in hex as in the developer portal.
  verify: ed25519Scheme({
    signature: 'header:x-signature-ed25519',
    encoding: 'hex',
    signed: '{timestamp}{body}',
    // unchecked: whether a retry has a new timestamp. The tolerance is longer than the retries, so both cases work.
    timestamp: { in: 'header:x-signature-timestamp', unit: 's', tolerance: '15m' },
  }),
  sharedKey: false,
  events: [
    {
      id: 'json:id',
      // A command has its name: `APPLICATION_COMMAND.ban`. A custom_id is not added: many have an id of an object in it.
      type: join(
        '.',
        mapped('json:type', {
          '2': 'APPLICATION_COMMAND',
          '3': 'MESSAGE_COMPONENT',
          '4': 'APPLICATION_COMMAND_AUTOCOMPLETE',
          '5': 'MODAL_SUBMIT',
        }),
        optional(choose('json:type', { '2': 'json:data.name', '4': 'json:data.name' })),
      ),
      // data.id is that of the command, the same for everybody who uses it.
      reference: ['json:channel_id', 'json:channel.id', 'json:user.id', 'json:member.user.id'],
    },
    // A webhook event has no id; its timestamp has microseconds, so equal bodies are one event.
    {
      id: 'hash',
      type: 'json:event.type',
      reference: ['json:event.data.id', 'json:event.data.user.id'],
      otherwise: true,
    },
  ],
  handshakes: [
    // Type 0 is the ping of webhook events. Type 1 is also a webhook event; only the ping of interactions has an id.
    { when: { 'json:type': '0' }, signed: true, reply: { httpStatus: 204 } },
    {
      when: { 'json:type': '1', 'json:id': true },
      signed: true,
      reply: { literal: '{"type":1}', headers: { 'content-type': 'application/json' } },
    },
  ],
  typeSeparator: '.',
  // unchecked: from memory. Interactions are not retried.
  retryWindowMs: minutes(10),
  // The answer to an interaction: `reply` in inline mode, or 204 and a request to its callback URL.
  answer: { timeLimitMs: seconds(3), httpStatus: 204, contentType: 'text/plain', body: '' },
  sampleId: 'number',
  samples: sampleFile('discord'),
})
