import {
  choose,
  days,
  defineProvider,
  type Field,
  hmacScheme,
  part,
  seconds,
} from '../verification/define-provider.js'
import { paddleList } from './lists/paddle.js'
import { sampleFile } from './sample.js'

/** Paddle Billing. `paddleClassic` is the older product. */
const objectOf = (name: string): Field[] => [
  choose(part('.', 0, 'json:event_type'), { [name]: 'json:data.id' }),
  `json:data.${name}_id`,
]

export const paddle = defineProvider({
  key: 'paddle',
  name: 'Paddle Billing',
  docs: 'https://developer.paddle.com/webhooks/signature-verification',
  confidence: 'verified',
  aliases: { webhookSecret: 'secret', secretKey: 'secret', endpointSecret: 'secret' },
  verify: hmacScheme({
    // Several h1 during the rotation of a secret. The secret includes its prefix `pdl_ntfset_`.
    signature: {
      in: 'header:paddle-signature',
      separator: ';',
      pairs: { signature: 'h1', timestamp: 'ts' },
    },
    encoding: 'hex',
    signed: '{timestamp}:{body}',
    // Its own library allows five seconds in the past. The event id is signed, so a replay is a duplicate.
    timestamp: { in: 'signature', unit: 's' },
  }),
  events: {
    id: 'json:event_id',
    type: 'json:event_type',
    reference: 'json:data.id',
    references: {
      customer: objectOf('customer'),
      subscription: objectOf('subscription'),
      transaction: objectOf('transaction'),
    },
    // notification_id is different for each destination and each replay of an event.
    content: 'none',
  },
  // The sandbox gives up after 15 minutes.
  retryWindowMs: days(3),
  list: paddleList,
  answer: { timeLimitMs: seconds(5) },
  sampleId: 'evt_',
  samples: sampleFile('paddle'),
})
