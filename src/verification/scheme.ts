/**
 * The contract of a verification scheme; `schemes/` has the implementations. A scheme is data until `create` binds it to
 * the secrets of a source. It never throws on a delivery.
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

export interface SchemeContext {
  readonly provider: string
  /** The option that holds the secrets or keys. */
  readonly credential: string
  readonly options: Readonly<Record<string, unknown>>
  readonly compiler: Compiler
  readonly document: DocumentRule
  readonly publicUrl: string | undefined
  /** The option of the user; undefined: the scheme decides. */
  readonly toleranceMs: number | undefined
}

export interface Scheme {
  readonly facts: SchemeFacts
  readonly keyCount: number
  verify(reading: Reading, now: number): Verification | Promise<Verification>
  /** Writes timestamp and signature to the draft, with the first secret or the private key. */
  sign(draft: Draft, now: number): void | Promise<void>
  /**
   * Reads without a check: the signed data names the events of a delivery that was verified before. A scheme that signs
   * nothing does not have it.
   */
  readSigned?(reading: Reading): SignedData
  /** HMAC with the first secret, for handshakes that ask for one. */
  readonly mac?: ((algorithm: string, text: string) => Buffer) | undefined
}

/** `Extra` has the options of the scheme besides its credential. */
export interface SchemeDefinition<Credential = unknown, Extra extends object = object> {
  /** The name of the option, unless the provider has another name for it. */
  readonly credential: 'secret' | 'publicKey'
  readonly extraOptions: readonly string[]
  /** False if the credential is optional because keys are fetched. */
  readonly credentialNeeded: boolean
  create(context: SchemeContext): Scheme
  /** New random options, for tests and synthetic deliveries. */
  example(): { readonly credential: Credential; readonly extra: Extra }
}

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

export type KeyScheme<Credential, Extra extends object, Needed extends boolean> = SchemeDefinition<
  Credential,
  Extra
> & { readonly credential: 'publicKey'; readonly credentialNeeded: Needed }

export const noCover = {
  each: null,
  encoding: null,
  separator: null,
  covers: { body: 'none', url: false, fields: [] },
  timestamp: null,
} as const

/** Only the sender can make another body for a signature. */
export function signsBody({ body }: SchemeFacts['covers']): boolean {
  return body === 'bytes' || body === 'values'
}

export function reject(reason: RejectReason): Verification {
  return { ok: false, reason }
}
