/** ECDSA on P-256 (SendGrid, eBay, ...). */
import { type Digest, type PublicKeyRule, publicKeyScheme } from './public-key.js'

export interface EcdsaRule extends PublicKeyRule {
  /** Default `sha256`. */
  readonly digest?: Digest
  /** Default `der`; `ieee-p1363` is r and s side by side. */
  readonly form?: 'der' | 'ieee-p1363'
}

export function ecdsaScheme<const R extends EcdsaRule>(rule: R) {
  const { digest = 'sha256', form = 'der' } = rule
  return publicKeyScheme({ kind: 'ecdsa', keyType: 'p256', digest, dsaEncoding: form }, rule)
}
