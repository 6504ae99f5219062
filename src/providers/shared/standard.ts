/** The Standard Webhooks scheme, which many senders use with their own header names. */
import { ed25519Scheme, type HmacRule, hmacScheme } from '../../verification/define-provider.js'

/** `prefix` is the prefix of the three headers: `webhook`, `svix`. */
export function standardHmac(prefix: string, rule: Partial<Pick<HmacRule, 'secret' | 'signature'>> = {}) {
  return hmacScheme({
    ...standardRule(prefix, 'v1'),
    secret: { encoding: 'base64', prefix: 'whsec_', apiKey: /^([srp]k_(test|live)_|re_|sk-)/ },
    ...rule,
  })
}

/** Version v1a: the same content, signed with Ed25519; the key has the form `whpk_<base64>`. */
export function standardKey(prefix: string) {
  return ed25519Scheme(standardRule(prefix, 'v1a'))
}

function standardRule(prefix: string, version: string) {
  return {
    // `v1,AAA= v1,BBB= v1a,CCC=`: other versions are skipped.
    signature: { in: `header:${prefix}-signature`, prefix: `${version},`, separator: ' ' },
    encoding: 'base64',
    signed: `{header:${prefix}-id}.{timestamp}.{body}`,
    timestamp: { in: `header:${prefix}-timestamp`, unit: 's' },
  } as const
}
