import { composite, defineProvider, hmacScheme, hours, seconds } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

/** The name of the list that has the event: tweet_create_events, follow_events, ... */
const kind = 'keys:for_user_id,user_has_blocked,users,apps'

export const xTwitter = defineProvider({
  key: 'xTwitter',
  name: 'X (Twitter) Account Activity and webhooks v2',
  docs: 'https://docs.x.com/x-api/webhooks/introduction',
  confidence: 'verified',
  aliases: { consumerSecret: 'secret', apiSecret: 'secret' },
  verify: hmacScheme({
    signature: { in: 'header:x-twitter-webhooks-signature', prefix: 'sha256=' },
    encoding: 'base64',
  }),
  events: {
    // Ids, if any, are those of posts and messages, not of events; every event has a time.
    id: composite(kind, 'hash'),
    type: kind,
    reference: 'json:for_user_id',
  },
  // Sent at registration, then every hour. It is not signed, so anyone can ask for the HMAC of a token.
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
