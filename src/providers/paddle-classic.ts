import {
  type ContentFunction,
  composite,
  defineProvider,
  rsaScheme,
} from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

/** All fields but the signature as PHP's serialize() writes an array of texts, in the order of their names. */
const serialized: ContentFunction = () => (reading) => {
  const fields = reading.formPairs
    .filter(([name]) => name !== 'p_signature')
    .sort(([a], [b]) => (a < b ? -1 : 1))
  // PHP would keep the last of two; which one is meant nobody can say.
  if (new Set(fields.map(([name]) => name)).size !== fields.length) return null
  return [`a:${fields.length}:{${fields.flat().map(serializedText).join('')}}`]
}

function serializedText(text: string): string {
  return `s:${Buffer.byteLength(text)}:"${text}";`
}

export const paddleClassic = defineProvider({
  key: 'paddleClassic',
  name: 'Paddle Classic',
  docs: 'https://developer.paddle.com/classic/webhook-reference/verifying-webhooks',
  confidence: 'likely',
  // The public key is shown in the vendor's dashboard.
  verify: rsaScheme({
    signature: 'form:p_signature',
    encoding: 'base64',
    digest: 'sha1',
    signed: serialized,
    covers: { body: 'values' },
  }),
  format: 'form',
  events: {
    // Fulfilment webhooks, one for an order, are no alerts. unchecked: that p_order_id is always in them, and that
    // retries keep alert_id.
    id: ['form:alert_id', composite('const:fulfillment', 'form:p_order_id')],
    type: ['form:alert_name', 'const:fulfillment'],
    reference: ['form:order_id', 'form:subscription_id', 'form:p_order_id'],
  },
  retryWindowMs: null,
  sampleId: 'number',
  samples: sampleFile('paddle-classic'),
})
