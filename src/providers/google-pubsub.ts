import { composite, days, defineProvider, join, jwtScheme, seconds } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const googlePubsub = defineProvider({
  key: 'googlePubsub',
  name: 'Google Cloud Pub/Sub push',
  docs: 'https://docs.cloud.google.com/pubsub/docs/authenticate-push-subscriptions',
  confidence: 'likely',
  // An authenticated push subscription. Anyone with a Google account can get a token for any audience, so the service
  // account is checked too. The body is not covered.
  verify: jwtScheme({
    in: 'header:authorization',
    prefix: 'Bearer ',
    algorithms: ['RS256'],
    claims: {
      iss: 'https://accounts.google.com',
      aud: '{option:audience}',
      email: '{option:serviceAccount}',
      email_verified: 'true',
    },
    required: ['exp'],
    jwksUrl: 'https://www.googleapis.com/oauth2/v3/certs',
  }),
  sharedKey: { namedBy: 'serviceAccount' },
  options: {
    audience: {
      what: 'The audience of the push subscription; by default the endpoint URL',
      required: true,
      example: 'https://example.com/webhooks/googlePubsub',
    },
    serviceAccount: {
      what: 'The e-mail address of the service account of the push subscription',
      required: true,
      example: 'pusher@my-project.iam.gserviceaccount.com',
    },
  },
  events: [
    // Payload unwrapping (with metadata) makes the data the whole body, in any format. A message id is unique only
    // within its topic.
    {
      id: composite('header:x-goog-pubsub-subscription-name', 'header:x-goog-pubsub-message-id'),
      type: 'const:pubsub.push',
      reference: ['header:x-goog-pubsub-ordering-key', 'header:x-goog-pubsub-subscription-name'],
    },
    {
      id: composite('json:subscription', 'json:message.messageId'),
      // Cloud Storage and others have the event name in an attribute.
      type: ['json:message.attributes.eventType', 'const:pubsub.push'],
      // The key of the publisher; the object of a notification of Cloud Storage.
      reference: [
        'json:message.orderingKey',
        join('/', 'json:message.attributes.bucketId', 'json:message.attributes.objectId'),
        'json:subscription',
      ],
      // deliveryAttempt changes with each attempt.
      content: 'none',
      otherwise: true,
    },
  ],
  // The content is not signed, and unwrapped data is often equal.
  contentGuard: 'accept',
  // The retention time of messages in the subscription: seven days by default.
  retryWindowMs: days(7),
  // The default acknowledgement deadline.
  answer: { timeLimitMs: seconds(10) },
  keepHeaders: ['x-goog-pubsub-publish-time', 'x-goog-pubsub-ordering-key'],
  sampleId: 'number',
  samples: sampleFile('google-pubsub'),
})
