import { defineProvider, hmacScheme, hours, seconds } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

/**
 * The old check of an endpoint (GET with `bt_challenge`) is not answered: the answer is a MAC of the challenge with the
 * key of the notifications, so a challenge of any form (not only 20 to 32 hex digits) could be a forged notification.
 */
export const braintree = defineProvider({
  key: 'braintree',
  name: 'Braintree',
  docs: 'https://developer.paypal.com/braintree/docs/guides/webhooks/parse',
  confidence: 'verified',
  // `secret` is the private key of the API. Each key of the account has a signature; the public key selects ours.
  verify: hmacScheme({
    algorithm: 'sha1',
    signature: { in: 'form:bt_signature', prefix: '{option:publicKey}|', separator: '&' },
    encoding: 'hex',
    // As in its library, both are tried: the line end can be lost in transit.
    signed: ['{form:bt_payload}', '{form:bt_payload}\n'],
    covers: { body: 'values' },
    secret: { digest: 'sha1' },
  }),
  options: {
    publicKey: {
      what: "The API's public key, from the control panel",
      required: true,
      example: 'jkq28pcxj4r85dwr',
    },
  },
  // The payload is XML in base64.
  format: 'form',
  document: { form: 'bt_payload', base64: true },
  events: {
    // There is no event id; the payload has the time of the event. The id is made of the decoded payload: the text with
    // and the text without its line end would give two ids.
    id: 'hash',
    type: 'xml:notification.kind',
    reference: [
      'xml:notification.subject.subscription.id',
      'xml:notification.subject.transaction.id',
      'xml:notification.subject.dispute.id',
      'xml:notification.subject.merchant-account.id',
    ],
    content: 'part',
  },
  retryWindowMs: hours(24),
  answer: { timeLimitMs: seconds(30) },
  samples: sampleFile('braintree'),
})
