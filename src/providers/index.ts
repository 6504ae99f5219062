/** `hookonce/providers`: a factory for each sender, and the functions to define another. */
import * as catalogue from './catalogue.js'

export {
  basicScheme,
  composite,
  defineProvider,
  ecdsaScheme,
  ed25519Scheme,
  type Field,
  type FieldText,
  hash,
  hmacScheme,
  join,
  jwtScheme,
  mapped,
  optional,
  type ProviderDefinition,
  type ProviderFactory,
  rsaScheme,
  tokenScheme,
} from '../verification/define-provider.js'
export { generateKeys } from '../verification/schemes/key-formats.js'
export * from './catalogue.js'
export { type HmacOptions, hmac, type IdentityOptions, unverified } from './generic.js'
/** All factories by key. */
export { catalogue }
