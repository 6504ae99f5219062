import { days, defineProvider, hmacScheme, seconds } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

/** Webhooks of balance platforms, marketplaces, issuing and the Management API. Payments are `adyen`. */
export const adyenPlatform = defineProvider({
  key: 'adyenPlatform',
  name: 'Adyen (platforms, issuing, management)',
  docs: 'https://docs.adyen.com/development-resources/webhooks/secure-webhooks/verify-hmac-signatures/',
  confidence: 'verified',
  aliases: { hmacKey: 'secret' },
  // The whole body, as in its library (@adyen/api-library 32.1.0); the key is in hex.
  verify: hmacScheme({
    signature: 'header:hmacsignature',
    encoding: 'base64',
    secret: { encoding: 'hex' },
  }),
  events: {
    // There is no event id. The body has the time at which the event was queued. unchecked: that a retry has the same one.
    id: 'hash',
    type: 'json:type',
    reference: [
      'json:data.transfer.id',
      'json:data.accountHolder.id',
      'json:data.balanceAccount.id',
      'json:data.paymentInstrument.id',
      'json:data.id',
      'json:data.*.id',
    ],
  },
  retryWindowMs: days(30),
  answer: { timeLimitMs: seconds(10) },
  samples: sampleFile('adyen-platform'),
})
