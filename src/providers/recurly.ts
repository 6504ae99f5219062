import {
  composite,
  defineProvider,
  hmacScheme,
  hours,
  join,
  seconds,
} from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

/** JSON webhooks. The XML ones are not signed. */
export const recurly = defineProvider({
  key: 'recurly',
  name: 'Recurly (JSON webhooks)',
  docs: 'https://docs.recurly.com/recurly-subscriptions/docs/signature-verification',
  confidence: 'likely',
  verify: hmacScheme({
    // `<milliseconds>,<hex>,<hex>`: several while a key is being replaced.
    signature: { in: 'header:recurly-signature', separator: ',', timestampFirst: true },
    encoding: 'hex',
    signed: '{timestamp}.{body}',
    timestamp: { in: 'signature', unit: 'ms' },
  }),
  events: {
    // `id` is the object's, by its examples: a subscription keeps it through all its events.
    id: composite('json:object_type', 'json:id', 'json:event_type', 'json:event_time'),
    type: join('.', 'json:object_type', 'json:event_type'),
    reference: ['json:uuid', 'json:account_code', 'json:id'],
  },
  retryWindowMs: hours(73),
  answer: { timeLimitMs: seconds(5) },
  samples: sampleFile('recurly'),
})
