/** The Standard Webhooks scheme, which many senders use under their own header names. */
import { ed25519Scheme, type HmacRule, hmacScheme } from '../../verification/define-provider.js'

/** `prefix` is what the three headers begin with: `webhook`, `svix`. */
export function standardHmac(prefix: string, rule: Partial<Pick<HmacRule, 'secret' | 'signature'>> = {}) {
  return hmacScheme({
    // `v1,AAA= v1,BBB= v1a,CCC=`: other versions are passed over.
    signature: { in: `header:${prefix}-signature`, prefix: 'v1,', separator: ' ' },
    encoding: 'base64',
    signed: `{header:${prefix}-id}.{timestamp}.{body}`,
    timestamp: { in: `header:${prefix}-timestamp`, unit: 's' },
    secret: { encoding: 'base64', prefix: 'whsec_' },
    ...rule,
  })
}

/** Version v1a: the same content, signed with Ed25519; the key is shown as `whpk_<base64>`. */
export function standardKey(prefix: string) {
  return ed25519Scheme({
    signature: { in: `header:${prefix}-signature`, prefix: 'v1a,', separator: ' ' },
    encoding: 'base64',
    signed: `{header:${prefix}-id}.{timestamp}.{body}`,
    timestamp: { in: `header:${prefix}-timestamp`, unit: 's' },
  })
}
