import { composite, defineProvider, hmacScheme, minutes, seconds } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const pusher = defineProvider({
  key: 'pusher',
  name: 'Pusher Channels',
  docs: 'https://pusher.com/docs/channels/server_api/webhooks/',
  confidence: 'verified',
  verify: hmacScheme({
    // x-pusher-key has the app key of the signing secret. If there are two keys, configure both secrets.
    signature: 'header:x-pusher-signature',
    encoding: 'hex',
    // The time when the batch was made, not sent.
    timestamp: { in: 'json:time_ms', unit: 'ms', tolerance: null },
  }),
  events: {
    each: 'events[]',
    // Events have no id and repeat (a channel is occupied again): the batch and the position in it identify them.
    id: composite('json:$.time_ms', 'index', 'hash'),
    type: 'json:name',
    reference: 'json:channel',
  },
  retryWindowMs: minutes(5),
  answer: { timeLimitMs: seconds(4) },
  keepHeaders: ['x-pusher-key'],
  sampleHeaders: { 'x-pusher-key': '278d425bdf160c739803' },
  samples: sampleFile('pusher'),
})
