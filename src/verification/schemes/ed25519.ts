/** Ed25519 (Discord, ...). Keys as hex or base64 of 32 bytes, or PEM. */
import { type PublicKeyRule, publicKeyScheme } from './public-key.js'

export function ed25519Scheme<const R extends PublicKeyRule>(rule: R) {
  return publicKeyScheme({ kind: 'ed25519', keyType: 'ed25519', digest: null }, rule)
}
