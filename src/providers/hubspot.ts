import {
  type ContentFunction,
  composite,
  defineProvider,
  hmacScheme,
  hours,
  optional,
  seconds,
} from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

/** These are decoded before signing, by HubSpot's documentation; the question mark of the query stays. */
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

/** Version 3 of its signatures. `hubspotV1` is the older one. */
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
    // By its documentation eventId is not unique; objects changed together share one. So everything counts that says
    // what happened to which object, and only attemptNumber is left out.
    id: composite(
      'json:portalId',
      'json:subscriptionId',
      'json:eventId',
      optional('json:occurredAt'),
      optional('json:subscriptionType'),
      optional(['json:objectId', 'json:primaryObjectId', 'json:fromObjectId']),
      optional(['json:toObjectId', 'json:newObjectId', 'json:messageId', 'json:propertyName']),
      optional(['json:propertyValue', 'json:associationRemoved']),
      optional(['json:associationType', 'json:associationTypeId']),
    ),
    type: 'json:subscriptionType',
    reference: 'json:objectId',
    // attemptNumber counts up on each retry.
    content: 'none',
  },
  retryWindowMs: hours(24),
  answer: { timeLimitMs: seconds(5) },
  sampleId: 'number',
  samples: sampleFile('hubspot'),
})
