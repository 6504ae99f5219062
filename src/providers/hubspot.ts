import {
  type ContentFunction,
  choose,
  composite,
  defineProvider,
  type Field,
  hash,
  hmacScheme,
  hours,
  optional,
  part,
  seconds,
} from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

/** HubSpot documents that these are decoded before signing, except the question mark of the query. */
const decoded: Readonly<Record<string, string>> = {
  '%3A': ':',
  '%2F': '/',
  '%3F': '?',
  '%40': '@',
  '%21': '!',
  '%24': '$',
  '%27': "'",
  '%28': '(',
  '%29': ')',
  '%2A': '*',
  '%2C': ',',
  '%3B': ';',
}

const signedRequest: ContentFunction = () => (reading) => {
  const url = reading.url.replace(/%[0-9A-Fa-f]{2}/g, (code) => decoded[code.toUpperCase()] ?? code)
  return [reading.delivery.method, url, reading.delivery.body, reading.timestamp ?? '']
}

/** Version 3 of the signatures. `hubspotV1` is the older version. */
const reference = ['json:objectId', 'json:primaryObjectId', 'json:fromObjectId'] as const

/** Newer subscriptions (`object.creation`) name the kind of the object by a number. */
const objectOf = (name: string, typeId: string): Field[] => [
  choose(part('.', 0, 'json:subscriptionType'), { [name]: reference }),
  choose('json:objectTypeId', { [typeId]: reference }),
]

export const hubspot = defineProvider({
  key: 'hubspot',
  name: 'HubSpot',
  docs: 'https://developers.hubspot.com/docs/apps/legacy-apps/authentication/validating-requests',
  confidence: 'verified',
  aliases: { clientSecret: 'secret' },
  verify: hmacScheme({
    signature: 'header:x-hubspot-signature-v3',
    encoding: 'base64',
    signed: signedRequest,
    covers: { body: 'bytes', url: true },
    timestamp: { in: 'header:x-hubspot-request-timestamp', unit: 'ms' },
  }),
  events: {
    each: '[]',
    // HubSpot documents that eventId is not unique: objects that change together share one. So the id has every value
    // except attemptNumber.
    id: composite(
      'json:portalId',
      'json:subscriptionId',
      'json:eventId',
      optional('json:occurredAt'),
      optional('json:subscriptionType'),
      optional(['json:objectId', 'json:primaryObjectId', 'json:fromObjectId']),
      optional(['json:toObjectId', 'json:newObjectId', 'json:messageId', 'json:propertyName']),
      // Ids stay in the log when a payload is erased, and this may be a name or an address.
      optional(hash(['json:propertyValue', 'json:associationRemoved'])),
      optional(['json:associationType', 'json:associationTypeId']),
    ),
    type: 'json:subscriptionType',
    // A merge and a change of associations have no objectId.
    reference,
    references: {
      contact: objectOf('contact', '0-1'),
      company: objectOf('company', '0-2'),
      deal: objectOf('deal', '0-3'),
      ticket: objectOf('ticket', '0-5'),
    },
    // attemptNumber changes with each attempt.
    content: 'none',
  },
  retryWindowMs: hours(24),
  answer: { timeLimitMs: seconds(5) },
  sampleId: 'number',
  samples: sampleFile('hubspot'),
})
