import { defineProvider, hmacScheme, hours, seconds } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

/**
 * The old check of an address (GET with `bt_challenge`) is not answered: the answer is a MAC of the challenge with the
 * key of the notifications, so a challenge that is not held to 20 to 32 hex digits would have forgeries signed.
 */
export const braintree = defineProvider({
  key: 'braintree',
  name: 'Braintree',
  docs: 'https://developer.paypal.com/braintree/docs/guides/webhooks/parse',
  confidence: 'verified',
  // `secret` is the API's private key. There is a signature for each key of the account; ours goes by the public key.
  verify: hmacScheme({
    algorithm: 'sha1',
    signature: { in: 'form:bt_signature', prefix: '{option:publicKey}|', separator: '&' },
    encoding: 'hex',
    // Its library tries both: the line end is lost on some ways.
    signed: ['{form:bt_payload}', '{form:bt_payload}\n'],
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
    // There is no event id; the payload has the time of the event. The decoded one counts: the text with and without its
    // line end would be two ids for one signature.
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
  idIsSigned: true,
  retryWindowMs: hours(24),
  answer: { timeLimitMs: seconds(30) },
  samples: sampleFile('braintree'),
})
