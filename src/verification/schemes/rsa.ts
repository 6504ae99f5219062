/** RSA with PKCS #1 v1.5 padding (Amazon SNS, PayPal, Wise, ...). */
import { type Digest, type DigestChoice, type PublicKeyRule, publicKeyScheme } from './public-key.js'

export interface RsaRule extends PublicKeyRule {
  /** Default `sha256`. A function where the signed part of the delivery says which of a fixed few it is. */
  readonly digest?: Digest | DigestChoice
}

export function rsaScheme<const R extends RsaRule>(rule: R) {
  return publicKeyScheme({ kind: 'rsa', keyType: 'rsa', digest: rule.digest ?? 'sha256' }, rule)
}
