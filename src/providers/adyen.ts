import {
  type ContentFunction,
  composite,
  days,
  defineProvider,
  type FieldText,
  hmacScheme,
  optional,
  seconds,
} from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

const fields = [
  'pspReference',
  'originalReference',
  'merchantAccountCode',
  'merchantReference',
  'amount.value',
  'amount.currency',
  'eventCode',
  'success',
] as const

/**
 * These eight joined by colons, absent ones as empty; the rest of the body is not signed. Adyen does not escape colons
 * here, so one is believed only in the merchant's own reference: elsewhere it could shift a value into its neighbour.
 */
const signedFields: ContentFunction = (field) => {
  const values = fields.map((name) => ({ name, read: field(`json:${name}`) }))
  return (reading) => {
    const texts = values.map(({ name, read }) => ({ name, text: read(reading) ?? '' }))
    if (texts.some(({ name, text }) => name !== 'merchantReference' && text.includes(':'))) return null
    return [texts.map(({ text }) => text).join(':')]
  }
}

/** Standard payment notifications. Platform webhooks sign the whole body in a header and are another kind. */
export const adyen = defineProvider({
  key: 'adyen',
  name: 'Adyen (standard payment notifications)',
  docs: 'https://docs.adyen.com/development-resources/webhooks/',
  confidence: 'verified',
  aliases: { hmacKey: 'secret' },
  verify: hmacScheme({
    each: 'notificationItems[].NotificationRequestItem',
    signature: 'json:additionalData.hmacSignature',
    encoding: 'base64',
    signed: signedFields,
    covers: { fields: fields.map((name): FieldText => `json:${name}`) },
    secret: { encoding: 'hex' },
  }),
  events: {
    each: 'notificationItems[].NotificationRequestItem',
    // There is no event id. These name one outcome of one step, and all of them are signed.
    id: composite(
      'json:pspReference',
      'json:eventCode',
      optional('json:success'),
      optional('json:originalReference'),
    ),
    type: 'json:eventCode',
    reference: ['json:originalReference', 'json:pspReference'],
  },
  retryWindowMs: days(30),
  // Older setups count a delivery as taken only when the body is this.
  answer: { timeLimitMs: seconds(10), contentType: 'text/plain', body: '[accepted]' },
  samples: sampleFile('adyen'),
})
