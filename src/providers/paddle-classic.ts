import {
  type ContentFunction,
  composite,
  defineProvider,
  rsaScheme,
} from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

/** All fields except the signature, sorted by name, in the format of PHP's serialize() for an array of texts. */
const serialized: ContentFunction = () => (reading) => {
  const fields = reading.formPairs
    .filter(([name]) => name !== 'p_signature')
    .sort(([a], [b]) => (a < b ? -1 : 1))
  // PHP would use the last of two fields with one name; here they are ambiguous.
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
  // The public key is in the dashboard of the vendor.
  verify: rsaScheme({
    signature: 'form:p_signature',
    encoding: 'base64',
    digest: 'sha1',
    signed: serialized,
    covers: { body: 'values' },
  }),
  sharedKey: false,
  format: 'form',
  events: {
    // Fulfilment webhooks, one for each order, are not alerts. unchecked: that they always have p_order_id, and that a
    // retry has the same alert_id.
    id: ['form:alert_id', composite('const:fulfillment', 'form:p_order_id')],
    type: ['form:alert_name', 'const:fulfillment'],
    reference: ['form:order_id', 'form:subscription_id', 'form:p_order_id'],
  },
  retryWindowMs: null,
  sampleId: 'number',
  samples: sampleFile('paddle-classic'),
})
