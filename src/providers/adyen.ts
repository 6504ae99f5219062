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
 * The eight values joined by colons, an absent one as empty text; the rest of the body is not signed. Adyen does not
 * escape colons, so only the merchant's own reference may have one: in another value it could move text to the next.
 */
const signedFields: ContentFunction = (field) => {
  const values = fields.map((name) => ({ name, read: field(`json:${name}`) }))
  return (reading) => {
    const texts = values.map(({ name, read }) => ({ name, text: read(reading) ?? '' }))
    if (texts.some(({ name, text }) => name !== 'merchantReference' && text.includes(':'))) return null
    return [texts.map(({ text }) => text).join(':')]
  }
}

/** Standard payment notifications. Platform webhooks, which sign the whole body in a header, are `adyenPlatform`. */
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
    // There is no event id. These values identify one outcome of one step, and all of them are signed.
    id: composite(
      'json:pspReference',
      'json:eventCode',
      optional('json:success'),
      optional('json:originalReference'),
    ),
    type: 'json:eventCode',
    reference: ['json:originalReference', 'json:pspReference'],
    references: {
      // Only with the additional data that the account has enabled.
      customer: ['json:additionalData.shopperReference', 'json:additionalData.recurring\\.shopperReference'],
      order: 'json:merchantReference',
    },
  },
  retryWindowMs: days(30),
  // Older accounts accept only this body as an acknowledgement.
  answer: { timeLimitMs: seconds(10), contentType: 'text/plain', body: '[accepted]' },
  samples: sampleFile('adyen'),
})
