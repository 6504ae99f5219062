/**
 * The contract of a verification scheme; `schemes/` has the implementations. A scheme is data until a source is made;
 * `create` then binds it to the secrets of that source. It never throws on a delivery, and the sender is never told the
 * reason of a rejection.
 */

import type { RejectReason, SchemeFacts, Verification } from '../provider.js'
import type { Compiler } from './delivery/compile.js'
import type { DocumentRule, Reading, SignedData } from './delivery/reading.js'

/** A delivery that `sign` completes. */
export interface Draft {
  readonly method: string
  url: string
  readonly headers: Record<string, string>
  body: Uint8Array
}

/** The source that a scheme is made for. */
export interface SchemeContext {
  /** The catalogue key, for error messages. */
  readonly provider: string
  /** The option that holds the secrets or keys. */
  readonly credential: string
  readonly options: Readonly<Record<string, unknown>>
  /** Compiles fields with the options of the source. */
  readonly compiler: Compiler
  readonly document: DocumentRule
  readonly publicUrl: string | undefined
  /** The option of the source; undefined: the scheme decides. */
  readonly toleranceMs: number | undefined
}

export interface Scheme {
  readonly facts: SchemeFacts
  /** The number of its secrets or keys. */
  readonly keyCount: number
  verify(reading: Reading, now: number): Verification | Promise<Verification>
  /** Writes timestamp and signature to the draft, with the first secret or the private key. */
  sign(draft: Draft, now: number): void | Promise<void>
  /**
   * The signed content, the signed time and the claims, without a check: they name the events of a delivery that was
   * verified before. A scheme that signs nothing does not have it.
   */
  readSigned?(reading: Reading): SignedData
  /** An HMAC over a text with the first secret, for handshakes that ask for one. */
  readonly mac?: ((algorithm: string, text: string) => Buffer) | undefined
}

/** A scheme as data. `Extra` is the type of the options that it adds besides its credential. */
export interface SchemeDefinition<Credential = unknown, Extra extends object = object> {
  /** The name of the option, unless the provider has another name for it. */
  readonly credential: 'secret' | 'publicKey'
  /** The options of the scheme besides the credential: `privateKey`, `getKey`, ... */
  readonly extraOptions: readonly string[]
  /** False if the credential is optional because keys are fetched. */
  readonly credentialNeeded: boolean
  create(context: SchemeContext): Scheme
  /** New random options, for tests and synthetic deliveries. */
  example(): { readonly credential: Credential; readonly extra: Extra }
}

/** The credential is a shared secret and is required. */
export type SecretScheme<Credential> = SchemeDefinition<Credential> & {
  readonly credential: 'secret'
  readonly credentialNeeded: true
}

export function secretScheme<Credential>(
  create: (context: SchemeContext) => Scheme,
  example: () => Credential,
): SecretScheme<Credential> {
  return {
    credential: 'secret',
    extraOptions: [],
    credentialNeeded: true,
    create,
    example: () => ({ credential: example(), extra: {} }),
  }
}

/** The credential is a public key, and is required if `Needed` is `true`. */
export type KeyScheme<Credential, Extra extends object, Needed extends boolean> = SchemeDefinition<
  Credential,
  Extra
> & { readonly credential: 'publicKey'; readonly credentialNeeded: Needed }

/** The facts of a scheme that identifies the sender and does not protect the content. */
export const noCover = {
  each: null,
  encoding: null,
  separator: null,
  covers: { body: 'none', url: false, fields: [] },
  timestamp: null,
} as const

/** Whether nobody but the sender can make another body for a signature. */
export function signsBody({ body }: SchemeFacts['covers']): boolean {
  return body === 'bytes' || body === 'values'
}

export function reject(reason: RejectReason): Verification {
  return { ok: false, reason }
}
