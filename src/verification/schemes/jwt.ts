/**
 * A signed token (JWT) beside the body. The provider's file fixes the algorithms; the token cannot choose. The body is
 * covered only when a claim holds its hash. jose does the cryptography and the key sets.
 */

import { type KeyObject, randomBytes, randomUUID } from 'node:crypto'
import {
  decodeJwt,
  decodeProtectedHeader,
  errors,
  type JWTHeaderParameters,
  type JWTPayload,
  jwtVerify,
  SignJWT,
} from 'jose'
import { sha256 } from '../../digest.js'
import type { Duration } from '../../duration.js'
import type { RejectReason, SchemeFacts, Verification } from '../../provider.js'
import type { Evaluate } from '../delivery/compile.js'
import type { FieldText } from '../delivery/field.js'
import { putField } from '../delivery/put.js'
import { noSignedData, Reading, type SignedData } from '../delivery/reading.js'
import {
  type Draft,
  type KeyScheme,
  noCover,
  reject,
  type Scheme,
  type SchemeContext,
  type SchemeDefinition,
  type SecretScheme,
} from '../scheme.js'
import { type GetKey, type JwtKey, type KeySource, keySource } from './jwt-keys.js'
import { generateKeys, signingKey } from './key-formats.js'
import { exampleSecret, type Secrets } from './secret.js'
import { decodeExact, isHashOf } from './signature.js'
import { effectiveTolerance, judgeTimestamp } from './timestamp.js'

export type JwtAlgorithm = 'HS256' | 'HS384' | 'HS512' | 'RS256' | 'ES256'

export interface JwtRule {
  readonly in: FieldText
  readonly prefix?: string
  /** All with a shared secret (HS*), or all with a public key. */
  readonly algorithms: readonly JwtAlgorithm[]
  /** Claims must have exactly this text. `{option:name}` is filled in; without the option there is no check. */
  readonly claims?: Readonly<Record<string, string>>
  /** These claims must exist. `exp` and `nbf` are checked whenever they exist. */
  readonly required?: readonly string[]
  /** `iat` must be within the tolerance (null: only when the source sets `tolerance`). Without this it is not read. */
  readonly issuedAt?: { readonly tolerance?: Duration | null }
  /** The claim with the SHA-256 of the body in hex. `unlessEmpty`: an empty body needs no claim. */
  readonly bodyHash?: { readonly claim: string; readonly unlessEmpty?: true }
  /** The claim with the SHA-256 of the URL in hex. */
  readonly urlHash?: { readonly claim: string }
  /** Public keys are fetched from this fixed address and cached. `publicKey` is then optional. */
  readonly jwksUrl?: string
  /** Public keys are looked up by the user's function `getKey(kid)`. `publicKey` is then optional. */
  readonly getKey?: true
}

export interface JwtExtra {
  /** Needed only to sign synthetic deliveries. */
  readonly privateKey?: string
  /** Looks up the sender's key (a JWK) by its id; the result is cached. */
  readonly getKey?: GetKey
  readonly fetch?: typeof fetch
}

const maxTokenText = 16_384
/** Two machines with the right time may differ so much. */
const clockToleranceSeconds = 30

/** The rule is not a type parameter: TypeScript would then accept a misspelt member. */
export function jwtScheme<
  const A extends JwtAlgorithm,
  U extends string | undefined = undefined,
  G extends true | undefined = undefined,
>(
  rule: JwtRule & { readonly algorithms: readonly A[]; readonly jwksUrl?: U; readonly getKey?: G },
): JwtSchemeOf<A, U, G> {
  const shared = rule.algorithms.every((algorithm) => algorithm.startsWith('HS'))
  const fetched = [...(rule.getKey ? ['getKey'] : []), ...(rule.jwksUrl === undefined ? [] : ['fetch'])]
  const definition: SchemeDefinition<Secrets, JwtExtra> = {
    credential: shared ? 'secret' : 'publicKey',
    extraOptions: shared ? [] : ['privateKey', ...fetched],
    credentialNeeded: fetched.length === 0,
    create: (context) => new JwtScheme(rule, shared, context),
    example() {
      if (shared) return { credential: exampleSecret({}, randomBytes(32)), extra: {} }
      const pair = generateKeys(rule.algorithms[0] === 'ES256' ? 'p256' : 'rsa')
      return { credential: pair.publicKey, extra: { privateKey: pair.privateKey } }
    },
  }
  return definition as JwtSchemeOf<A, U, G>
}

type JwtSchemeOf<A extends JwtAlgorithm, U, G> = A extends `HS${string}`
  ? SecretScheme<Secrets>
  : KeyScheme<Secrets, JwtExtra, U extends string ? false : G extends true ? false : true>

class JwtScheme implements Scheme {
  readonly facts: SchemeFacts
  readonly keyCount: number
  readonly #rule: JwtRule
  readonly #context: SchemeContext
  readonly #place: FieldText
  readonly #read: Evaluate
  readonly #keys: KeySource
  readonly #privateKey: () => KeyObject
  readonly #claims: readonly (readonly [name: string, text: string])[]

  constructor(rule: JwtRule, shared: boolean, context: SchemeContext) {
    const { compiler } = context
    this.#rule = rule
    this.#context = context
    this.#place = compiler.fill(rule.in) as FieldText
    this.#read = compiler.field(this.#place)
    this.#keys = keySource(rule, shared, context)
    this.#privateKey = signingKey(context)
    this.#claims = Object.entries(rule.claims ?? {})
      .map(([name, text]) => [name, compiler.fill(text)] as const)
      .filter(([, text]) => text !== '')
    this.keyCount = this.#keys.count
    const stamp = { in: 'claim:iat', unit: 's', ...rule.issuedAt } as const
    const toleranceMs = rule.issuedAt === undefined ? null : effectiveTolerance(stamp, context.toleranceMs)
    this.facts = {
      ...noCover,
      kind: 'jwt',
      credential: context.credential,
      signatureIn: [this.#place],
      covers: {
        body: rule.bodyHash === undefined ? 'none' : 'bytes',
        url: rule.urlHash !== undefined,
        fields: [],
      },
      timestamp: rule.issuedAt === undefined ? null : { in: stamp.in, unit: stamp.unit, toleranceMs },
    }
  }

  async verify(reading: Reading, now: number): Promise<Verification> {
    const found = this.#token(reading)
    if (typeof found === 'string') return reject(found)
    const result = await this.#verifyToken(found.text, now)
    if (typeof result === 'string') return reject(result)
    const problem = this.#judge(result.payload, reading, now)
    if (problem !== null) return reject(problem)
    reading.verifiedData = this.#signedData(reading, found.text, result.payload)
    return { ok: true, secretIndex: result.index }
  }

  readSigned(reading: Reading): SignedData {
    const found = this.#token(reading)
    if (typeof found === 'string') return noSignedData
    const claims = claimsOf(found.text)
    return claims === null ? noSignedData : this.#signedData(reading, found.text, claims)
  }

  async sign(draft: Draft, now: number): Promise<void> {
    const { bodyHash, urlHash, algorithms, prefix = '' } = this.#rule
    const { document, publicUrl } = this.#context
    const key = this.#keys.secret ?? this.#privateKey()
    const at = Math.floor(now / 1_000)
    const lifeSeconds = Math.max(300, Math.ceil((this.facts.timestamp?.toleranceMs ?? 0) / 1_000))
    const claims: Record<string, unknown> = { jti: randomUUID(), iat: at, nbf: at, exp: at + lifeSeconds }
    for (const [name, text] of this.#claims) claims[name] = text === 'true' ? true : text
    if (bodyHash !== undefined) claims[bodyHash.claim] = sha256(draft.body).toString('hex')
    if (urlHash !== undefined) {
      claims[urlHash.claim] = sha256(Reading.of(draft, document, publicUrl).url).toString('hex')
    }
    const signing = new SignJWT(claims).setProtectedHeader({ alg: algorithms[0]!, typ: 'JWT' })
    putField(draft, this.#place, prefix + (await signing.sign(key)))
  }

  #token(reading: Reading): { readonly text: string } | RejectReason {
    const { prefix = '' } = this.#rule
    const text = this.#read(reading)
    if (text === undefined || text === '') return 'missing_signature'
    if (text.length > maxTokenText || !text.startsWith(prefix)) return 'malformed_token'
    const bare = text.slice(prefix.length)
    return isCanonical(bare) ? { text: bare } : 'malformed_token'
  }

  async #verifyToken(
    text: string,
    now: number,
  ): Promise<{ payload: JWTPayload; index: number } | RejectReason> {
    const header = headerOf(text)
    // Checked before a key is looked up: the algorithm of a token is no reason to ask anybody.
    if (header === null || !this.#rule.algorithms.includes(header.alg as JwtAlgorithm)) {
      return 'malformed_token'
    }
    const found = await this.#keys.find(header)
    if (typeof found === 'string') return found
    let reason: RejectReason = 'unknown_key'
    for (const { key, index } of found) {
      const result = await this.#verifyWith(text, key, now)
      if (typeof result !== 'string') return { payload: result, index }
      // Another key may match a bad signature. A stale or malformed token is so with every key.
      if (result !== 'bad_signature') return result
      reason = result
    }
    return reason
  }

  async #verifyWith(text: string, key: JwtKey, now: number): Promise<JWTPayload | RejectReason> {
    try {
      const { payload } = await jwtVerify(text, key, {
        algorithms: [...this.#rule.algorithms],
        clockTolerance: clockToleranceSeconds,
        currentDate: new Date(now),
        requiredClaims: [...(this.#rule.required ?? [])],
      })
      return payload
    } catch (error) {
      return reasonOf(error)
    }
  }

  #judge(payload: JWTPayload, reading: Reading, now: number): RejectReason | null {
    const stamp = this.facts.timestamp
    const problem =
      stamp === null ? null : judgeTimestamp(issuedAt(payload), stamp.unit, stamp.toleranceMs, now)
    if (problem !== null) return problem
    for (const [name, text] of this.#claims) if (!claimHas(payload[name], text)) return 'wrong_claims'
    const { bodyHash, urlHash } = this.#rule
    const { body } = reading.delivery
    if (bodyHash !== undefined) {
      const isFree = bodyHash.unlessEmpty && body.length === 0 && !(bodyHash.claim in payload)
      if (!isFree && !isHashOf(body, payload[bodyHash.claim])) return 'bad_signature'
    }
    if (urlHash !== undefined && !isHashOf(reading.url, payload[urlHash.claim])) return 'bad_signature'
    return null
  }

  #signedData(reading: Reading, text: string, claims: JWTPayload): SignedData {
    const timestamp = issuedAt(claims)
    // Without a hash of the body the token identifies the sender and not the content, so it cannot name an event.
    if (this.#rule.bodyHash === undefined) return { signed: [text], naming: null, timestamp, claims }
    // The token itself is not used: a sender that retries may issue a new token, with a new id and a new end.
    const url = this.#rule.urlHash === undefined ? '' : reading.url
    const signed = [JSON.stringify([timestamp ?? null, url]), reading.delivery.body]
    return { signed, naming: signed, timestamp, claims }
  }
}

function issuedAt({ iat }: JWTPayload): string | undefined {
  return typeof iat === 'number' ? String(Math.floor(iat)) : undefined
}

/** Three segments of strict base64url. jose also accepts padding and spare bits, so that one token has many texts. */
function isCanonical(token: string): boolean {
  const segments = token.split('.', 4)
  return (
    segments.length === 3 &&
    segments.every((segment) => segment !== '' && decodeExact(segment, 'base64url') !== null)
  )
}

function headerOf(text: string): JWTHeaderParameters | null {
  try {
    const header = decodeProtectedHeader(text)
    const { alg, kid } = header
    if (typeof alg !== 'string' || (kid !== undefined && typeof kid !== 'string')) return null
    return { ...header, alg }
  } catch {
    return null
  }
}

function claimsOf(text: string): JWTPayload | null {
  try {
    return decodeJwt(text)
  } catch {
    return null
  }
}

function reasonOf(error: unknown): RejectReason {
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'bad_signature'
  if (error instanceof errors.JWTExpired) return 'stale_timestamp'
  if (error instanceof errors.JWTClaimValidationFailed) {
    return error.claim === 'nbf' || error.claim === 'iat' ? 'future_timestamp' : 'wrong_claims'
  }
  return 'malformed_token'
}

/** `aud` may be a list; a claim may be a boolean (`email_verified`). */
function claimHas(claim: unknown, text: string): boolean {
  return Array.isArray(claim) ? claim.includes(text) : String(claim) === text
}
