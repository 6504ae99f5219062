import { composite, days, defineProvider, hmacScheme, optional } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

/** Login Kit, content posting, data portability. TikTok Shop has another portal and another signature. */
export const tiktok = defineProvider({
  key: 'tiktok',
  name: 'TikTok for Developers',
  docs: 'https://developers.tiktok.com/doc/webhooks-verification',
  confidence: 'verified',
  // The secret is the app's client secret.
  verify: hmacScheme({
    signature: { in: 'header:tiktok-signature', pairs: { signature: 's', timestamp: 't' } },
    encoding: 'hex',
    signed: '{timestamp}.{body}',
    timestamp: { in: 'signature', unit: 's' },
  }),
  events: {
    // There is no event id. `content` is a JSON text with the id of the video or request inside.
    id: composite(
      'json:client_key',
      'json:event',
      'json:create_time',
      optional('json:user_openid'),
      optional('json:content'),
    ),
    type: 'json:event',
    reference: 'json:user_openid',
  },
  retryWindowMs: days(3),
  samples: sampleFile('tiktok'),
})
