/** `hookonce/providers`: a factory for each sender, and the functions to define another. */
import * as catalogue from './catalogue.js'

export {
  basicScheme,
  choose,
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
export {
  type BasicOptions,
  basic,
  type MtlsOptions,
  mtls,
  type TokenOptions,
  token,
  unverified,
} from './generic/credentials.js'
export { type HmacOptions, hmac } from './generic/hmac.js'
export type { IdentityOptions } from './generic/identity.js'
export { type JwtOptions, jwt } from './generic/jwt.js'
/** All factories by key. */
export { catalogue }
