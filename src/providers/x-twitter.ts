import { composite, defineProvider, hmacScheme, hours, seconds } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

/** The name of the list that has the event: tweet_create_events, follow_events, ... */
const kind = 'keys:for_user_id,user_has_blocked,users,apps'

const signed = hmacScheme({
  signature: { in: 'header:x-twitter-webhooks-signature', prefix: 'sha256=' },
  encoding: 'base64',
})

export const xTwitter = defineProvider({
  key: 'xTwitter',
  name: 'X (Twitter) Account Activity and webhooks v2',
  docs: 'https://docs.x.com/x-api/webhooks/introduction',
  confidence: 'verified',
  aliases: { consumerSecret: 'secret', apiSecret: 'secret' },
  // The handshake below gives anyone an HMAC with the secret that signs deliveries: with a body as the token, it would
  // sign that body. So a token that could be JSON with events gets no HMAC.
  verify: {
    ...signed,
    create(context) {
      const scheme = signed.create(context)
      return {
        ...scheme,
        mac: (algorithm, text) => (/[{[]/.test(text) ? Buffer.alloc(0) : scheme.mac!(algorithm, text)),
      }
    },
  },
  events: {
    // Ids, if any, are those of posts and messages, not of events; every event has a time.
    // The id includes the kind, so that only an object is an event (see above).
    id: composite(kind, 'hash'),
    type: kind,
    reference: 'json:for_user_id',
  },
  // Sent at registration, then every hour.
  handshakes: [
    {
      when: { method: 'GET', 'query:crc_token': true },
      signed: false,
      reply: {
        json: { response_token: { hmac: '{query:crc_token}', encoding: 'base64', prefix: 'sha256=' } },
      },
    },
  ],
  retryWindowMs: hours(24),
  answer: { timeLimitMs: seconds(10) },
  samples: sampleFile('x-twitter'),
})
