import { composite, days, defineProvider, hmacScheme, optional } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

/** Login Kit, content posting, data portability. TikTok Shop has another signature and is not supported. */
export const tiktok = defineProvider({
  key: 'tiktok',
  name: 'TikTok for Developers',
  docs: 'https://developers.tiktok.com/doc/webhooks-verification',
  confidence: 'verified',
  // The secret is the client secret of the app.
  verify: hmacScheme({
    signature: { in: 'header:tiktok-signature', pairs: { signature: 's', timestamp: 't' } },
    encoding: 'hex',
    signed: '{timestamp}.{body}',
    timestamp: { in: 'signature', unit: 's' },
  }),
  events: {
    // There is no event id. `content` is a JSON text that has the id of the video or request.
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
