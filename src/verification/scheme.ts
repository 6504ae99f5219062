/**
 * The contract of a verification scheme. `schemes/` holds one file for each. A scheme is data until a source is
 * made; then `create` binds it to that source's secrets. It never throws on a delivery and never says why to a sender.
 */

import type { RejectReason, SchemeFacts, Verification } from '../provider.js'
import type { Compiler } from './delivery/compile.js'
import type { DocumentRule, Opened, Reading } from './delivery/reading.js'

/** A delivery in the making: what `sign` fills in. */
export interface Draft {
  readonly method: string
  url: string
  readonly headers: Record<string, string>
  body: Uint8Array
}

/** What a scheme gets to bind itself to. */
export interface SchemeContext {
  /** The catalogue key, for error messages. */
  readonly provider: string
  /** The option that holds the secrets or keys. */
  readonly credential: string
  readonly options: Readonly<Record<string, unknown>>
  /** Makes fields into functions, with the source's options filled in. */
  readonly compiler: Compiler
  readonly document: DocumentRule
  readonly publicUrl: string | undefined
  /** The source's option; undefined leaves it to the scheme. */
  readonly toleranceMs: number | undefined
}

export interface Scheme {
  readonly facts: SchemeFacts
  /** How many secrets or keys it was given. */
  readonly keyCount: number
  verify(reading: Reading, now: number): Verification | Promise<Verification>
  /** Puts timestamp and signature into the draft, with the first secret or the private key. */
  sign(draft: Draft, now: number): void | Promise<void>
  /**
   * What it signs in this delivery, its time and its claims, without judging them: names the events of a delivery
   * that was verified before. Left out by a scheme that signs nothing.
   */
  open?(reading: Reading): Opened
  /** An HMAC over a text with the first secret, for handshakes that ask for one. */
  mac?(algorithm: string, text: string): Buffer
}

/** A scheme as data. `Extra` is what the factory takes for it besides its credential. */
export interface SchemeDefinition<Credential = unknown, Extra extends object = object> {
  /** `secret` or `publicKey`: the name of the option unless the provider gives it another. */
  readonly credential: 'secret' | 'publicKey'
  /** Options the scheme adds beside the credential: `privateKey`, `getKey`, ... */
  readonly extraOptions: readonly string[]
  /** False when it may be left out, because keys are fetched. */
  readonly credentialNeeded: boolean
  create(context: SchemeContext): Scheme
  /** Fresh options of the right form, for tests and synthetic deliveries. */
  example(): { readonly credential: Credential; readonly extra: Extra }
}

/** The credential is a shared secret, and there must be one. */
export type SecretScheme<Credential> = SchemeDefinition<Credential> & {
  readonly credential: 'secret'
  readonly credentialNeeded: true
}

/** The credential is a public key; it may be left out where `Needed` is not `true`. */
export type KeyScheme<Credential, Extra extends object, Needed extends boolean> = SchemeDefinition<
  Credential,
  Extra
> & { readonly credential: 'publicKey'; readonly credentialNeeded: Needed }

export function reject(reason: RejectReason): Verification {
  return { ok: false, reason }
}
