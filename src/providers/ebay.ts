import { defineProvider, ecdsaScheme } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const ebay = defineProvider({
  key: 'ebay',
  name: 'eBay Notification API',
  docs: 'https://developer.ebay.com/api-docs/commerce/notification/overview.html',
  confidence: 'verified',
  // The key comes from getPublicKey (/commerce/notification/v1/public_key/{kid}): the base64 between the PEM lines.
  verify: ecdsaScheme({
    signature: { in: 'header:x-ebay-signature', packed: { unpack, pack } },
    encoding: 'base64',
    digest: 'sha1',
  }),
  sharedKey: {
    namedBy: null,
    note: 'Notifications that eBay sent to another developer are accepted too. Look up the user of an event before you act on it.',
  },
  events: {
    id: 'json:notification.notificationId',
    type: 'json:metadata.topic',
    reference: ['json:notification.data.userId', 'json:notification.data.username'],
    // publishAttemptCount changes with each attempt.
    content: 'none',
  },
  options: {
    verificationToken: {
      what: 'The verification token that you gave eBay with the endpoint',
      required: true,
      example: 'hookonce-verification-token-0123456789',
    },
    endpointUrl: {
      what: 'The URL of the endpoint, exactly as you gave it to eBay',
      required: true,
      example: 'https://example.com/webhooks/ebay',
    },
  },
  handshakes: [
    {
      when: { method: 'GET', 'query:challenge_code': true },
      signed: false,
      reply: {
        json: {
          challengeResponse: {
            digest: '{query:challenge_code}{option:verificationToken}{option:endpointUrl}',
            encoding: 'hex',
          },
        },
      },
    },
  ],
  retryWindowMs: null,
  samples: sampleFile('ebay'),
})

/** Base64 of `{"alg":"ecdsa","kid":...,"signature":...,"digest":"SHA1"}`. Another digest is rejected. */
function unpack(text: string): string | null {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.toString('base64') !== text) return null
  try {
    const { signature, digest } = JSON.parse(bytes.toString('utf8')) as Record<string, unknown>
    return typeof signature === 'string' && String(digest).toUpperCase() === 'SHA1' ? signature : null
  } catch {
    return null
  }
}

function pack(signature: string): string {
  return Buffer.from(JSON.stringify({ alg: 'ecdsa', kid: 'hookonce', signature, digest: 'SHA1' })).toString(
    'base64',
  )
}
