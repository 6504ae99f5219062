import {
  defineProvider,
  hmacScheme,
  hours,
  join,
  optional,
  seconds,
} from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

/** One event per delivery. Segment signs only the first event of a batch, so a batch is rejected: disable batches. */
export const segment = defineProvider({
  key: 'segment',
  name: 'Segment (webhooks destination)',
  docs: 'https://segment.com/docs/connections/destinations/catalog/webhooks/',
  confidence: 'verified',
  verify: hmacScheme({ algorithm: 'sha1', signature: 'header:x-signature', encoding: 'hex' }),
  events: {
    // The library in the browser or app makes it.
    id: 'json:messageId',
    idFromOutside: true,
    // `track.Order Completed`
    type: join('.', 'json:type', optional('json:event')),
    reference: ['json:userId', 'json:anonymousId'],
  },
  typeSeparator: '.',
  retryWindowMs: hours(4),
  answer: { timeLimitMs: seconds(5) },
  samples: sampleFile('segment'),
})
