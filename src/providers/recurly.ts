import {
  choose,
  composite,
  defineProvider,
  hmacScheme,
  hours,
  join,
  seconds,
} from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

/** JSON webhooks. XML webhooks are not signed and not supported. */
export const recurly = defineProvider({
  key: 'recurly',
  name: 'Recurly (JSON webhooks)',
  docs: 'https://docs.recurly.com/recurly-subscriptions/docs/signature-verification',
  confidence: 'likely',
  verify: hmacScheme({
    // `<milliseconds>,<hex>,<hex>`: several during the rotation of a key.
    signature: { in: 'header:recurly-signature', separator: ',', timestampFirst: true },
    encoding: 'hex',
    signed: '{timestamp}.{body}',
    timestamp: { in: 'signature', unit: 'ms' },
  }),
  events: {
    // `id` is that of the object, as its examples show: all events of a subscription have one id.
    id: composite('json:object_type', 'json:id', 'json:event_type', 'json:event_time'),
    type: join('.', 'json:object_type', 'json:event_type'),
    reference: ['json:uuid', 'json:account_code', 'json:id'],
    references: {
      customer: 'json:account_code',
      subscription: choose('json:object_type', { subscription: 'json:uuid' }),
    },
  },
  retryWindowMs: hours(73),
  answer: { timeLimitMs: seconds(5) },
  samples: sampleFile('recurly'),
})
