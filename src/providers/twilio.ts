import {
  type ContentFunction,
  composite,
  defineProvider,
  hmacScheme,
  hours,
  optional,
  seconds,
  sortedForm,
} from '../define-provider.js'

/**
 * Twilio signs the URL with the port or without it, by product; its own library tries both, the default port where the
 * URL names none.
 */
const withOtherPort: ContentFunction = () => (reading) => {
  const url = reading.url.replace(
    /^(https?):\/\/((?:[^/?#]*@)?(?:\[[^\]/?#]*\]|[^/?#:]*))(:\d*)?/,
    (_, scheme: string, host: string, port?: string) =>
      `${scheme}://${host}${port === undefined ? (scheme === 'https' ? ':443' : ':80') : ''}`,
  )
  return url === reading.url ? null : [url, sortedForm(reading) ?? '']
}

export const twilio = defineProvider({
  key: 'twilio',
  name: 'Twilio',
  docs: 'https://www.twilio.com/docs/usage/webhooks/webhooks-security',
  confidence: 'verified',
  verify: hmacScheme({
    algorithm: 'sha1',
    signature: 'header:x-twilio-signature',
    encoding: 'base64',
    // A form is signed with the URL. Any other body is not: its hash stands in the URL instead, and must be there.
    signed: ['{url}{sorted-form?}', withOtherPort],
    bodyHashIn: 'query:bodySHA256',
  }),
  format: 'form',
  events: {
    // I-Twilio-Idempotency-Token is unsigned and not always there. A SID alone is not unique: it comes back with each
    // status, so the two together name the event, and both are signed.
    id: composite(
      ['form:MessageSid', 'form:CallSid', 'form:SmsSid', 'json:MessageSid', 'json:id'],
      optional(['form:MessageStatus', 'form:CallStatus', 'form:SmsStatus', 'json:type']),
      optional('form:SequenceNumber'),
    ),
    type: ['form:MessageStatus', 'form:CallStatus', 'form:SmsStatus', 'json:type'],
    reference: ['form:MessageSid', 'form:CallSid', 'form:SmsSid'],
  },
  retryWindowMs: hours(4),
  answer: { timeLimitMs: seconds(15), contentType: 'text/xml', body: '<Response/>' },
  keepHeaders: ['i-twilio-idempotency-token'],
  sampleId: 'SM',
  samples: {
    delivered: {
      AccountSid: 'AC00000000000000000000000000000000',
      ApiVersion: '2010-04-01',
      From: '+15017122661',
      MessageSid: '{id}',
      MessageStatus: 'delivered',
      SmsSid: '{id}',
      SmsStatus: 'delivered',
      To: '+15558675310',
    },
    completed: {
      AccountSid: 'AC00000000000000000000000000000000',
      CallDuration: '12',
      CallSid: '{id}',
      CallStatus: 'completed',
      From: '+15017122661',
      To: '+15558675310',
    },
  },
})
