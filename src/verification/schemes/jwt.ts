/**
 * A signed token (JWT) beside the body. The provider's file fixes the algorithms; the token cannot choose. The body is
 * covered only when a claim holds its hash. jose does the cryptography and the key sets.
 */

import { createHash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import {
  decodeJwt,
  decodeProtectedHeader,
  errors,
  type JWTHeaderParameters,
  type JWTPayload,
  jwtVerify,
  SignJWT,
} from 'jose'
import type { Duration } from '../../duration.js'
import { HookonceError } from '../../errors.js'
import type { RejectReason, SchemeFacts } from '../../provider.js'
import type { FieldText } from '../delivery/field.js'
import { putField } from '../delivery/put.js'
import { noSignedData, Reading, type SignedData } from '../delivery/reading.js'
import {
  type KeyScheme,
  noCover,
  reject,
  type Scheme,
  type SchemeContext,
  type SchemeDefinition,
  type SecretScheme,
} from '../scheme.js'
import { type GetKey, type JwtKey, type KeySource, keySource } from './jwt-keys.js'
import { generateKeys, privateKey } from './key-formats.js'
import { exampleSecret, type Secrets } from './secret.js'
import { decodeExact } from './signature.js'
import { effectiveTolerance, judgeTimestamp } from './timestamp.js'

export type JwtAlgorithm = 'HS256' | 'HS384' | 'HS512' | 'RS256' | 'ES256'

export interface JwtRule {
  readonly in: FieldText
  /** Before the token, e.g. `Bearer `. */
  readonly prefix?: string
  /** All with a shared secret (HS*), or all with a public key. */
  readonly algorithms: readonly JwtAlgorithm[]
  /** Claims that must have exactly this text. `{option:name}` is filled in; without the option there is no check. */
  readonly claims?: Readonly<Record<string, string>>
  /** Claims that must exist. `exp` and `nbf` are checked whenever they exist. */
  readonly required?: readonly string[]
  /** `iat` must be within the tolerance (null: only when the source sets `tolerance`). Without this it is not read. */
  readonly issuedAt?: { readonly tolerance?: Duration | null }
  /** The claim that holds the SHA-256 of the body, in hex. `unlessEmpty`: an empty body needs no claim. */
  readonly bodyHash?: { readonly claim: string; readonly unlessEmpty?: true }
  /** The claim that holds the SHA-256 of the URL, in hex. */
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
/** For the clock difference between two machines that both have the right time. */
const clockToleranceSeconds = 30

/**
 * HS* algorithms have a shared secret, the others a public key. The rule is not a type parameter: TypeScript would then
 * accept a misspelt member.
 */
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
    create: (context) => createJwtScheme(rule, shared, context),
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

function createJwtScheme(rule: JwtRule, shared: boolean, context: SchemeContext): Scheme {
  const { compiler } = context
  const place = compiler.fill(rule.in) as FieldText
  const read = compiler.field(place)
  const { prefix = '' } = rule
  const keys: KeySource = keySource(rule, shared, context)
  const expected = Object.entries(rule.claims ?? {})
    .map(([name, text]) => [name, compiler.fill(text)] as const)
    .filter(([, text]) => text !== '')
  const stamp =
    rule.issuedAt === undefined ? null : ({ in: 'claim:iat', unit: 's', ...rule.issuedAt } as const)
  const toleranceMs =
    stamp === null ? null : effectiveTolerance({ ...stamp, in: 'claim:iat' }, context.toleranceMs)

  function token(reading: Reading): { readonly text: string } | RejectReason {
    const text = read(reading)
    if (text === undefined || text === '') return 'missing_signature'
    if (text.length > maxTokenText || !text.startsWith(prefix)) return 'malformed_token'
    const bare = text.slice(prefix.length)
    return isCanonical(bare) ? { text: bare } : 'malformed_token'
  }

  async function verifyToken(
    text: string,
    now: number,
  ): Promise<{ payload: JWTPayload; index: number } | RejectReason> {
    const header = headerOf(text)
    // Checked before a key is looked up: the algorithm of a token is no reason to ask anybody.
    if (header === null || !rule.algorithms.includes(header.alg as JwtAlgorithm)) return 'malformed_token'
    const found = await keys.find(header)
    if (typeof found === 'string') return found
    let reason: RejectReason = 'unknown_key'
    for (const { key, index } of found) {
      const result = await verifyWith(text, key, now)
      if (typeof result !== 'string') return { payload: result, index }
      // Another key may match a bad signature. A stale or malformed token is so with every key.
      if (result !== 'bad_signature') return result
      reason = result
    }
    return reason
  }

  async function verifyWith(text: string, key: JwtKey, now: number): Promise<JWTPayload | RejectReason> {
    try {
      const { payload } = await jwtVerify(text, key, {
        algorithms: [...rule.algorithms],
        clockTolerance: clockToleranceSeconds,
        currentDate: new Date(now),
        requiredClaims: [...(rule.required ?? [])],
      })
      return payload
    } catch (error) {
      return reasonOf(error)
    }
  }

  function judge(payload: JWTPayload, reading: Reading, now: number): RejectReason | null {
    if (stamp !== null) {
      const at = typeof payload.iat === 'number' ? String(Math.floor(payload.iat)) : undefined
      const problem = judgeTimestamp(at, 's', toleranceMs, now)
      if (problem !== null) return problem
    }
    for (const [name, text] of expected) if (!claimHas(payload[name], text)) return 'wrong_claims'
    const { bodyHash, urlHash } = rule
    const { body } = reading.delivery
    if (
      bodyHash !== undefined &&
      !(bodyHash.unlessEmpty && body.length === 0 && !(bodyHash.claim in payload))
    ) {
      if (!hashIs(payload[bodyHash.claim], body)) return 'bad_signature'
    }
    if (urlHash !== undefined && !hashIs(payload[urlHash.claim], reading.url)) return 'bad_signature'
    return null
  }

  const coversBody = rule.bodyHash !== undefined
  const facts: SchemeFacts = {
    kind: 'jwt',
    credential: context.credential,
    signatureIn: [place],
    ...noCover,
    covers: {
      body: coversBody ? 'bytes' : 'none',
      url: rule.urlHash !== undefined,
      fields: [],
    },
    timestamp: stamp === null ? null : { in: 'claim:iat', unit: 's', toleranceMs },
  }

  function signedData(reading: Reading, text: string, claims: JWTPayload): SignedData {
    const timestamp = typeof claims.iat === 'number' ? String(Math.floor(claims.iat)) : undefined
    // Without a hash of the body the token identifies the sender and not the content, so it cannot name an event.
    if (!coversBody) return { signed: [text], naming: null, timestamp, claims }
    // The token itself is not used: a sender that retries may issue a new token, with a new id and a new end.
    const url = rule.urlHash === undefined ? '' : reading.url
    const signed = [JSON.stringify([timestamp ?? null, url]), reading.delivery.body]
    return { signed, naming: signed, timestamp, claims }
  }

  return {
    facts,
    keyCount: keys.count,
    async verify(reading, now) {
      const found = token(reading)
      if (typeof found === 'string') return reject(found)
      const result = await verifyToken(found.text, now)
      if (typeof result === 'string') return reject(result)
      const problem = judge(result.payload, reading, now)
      if (problem !== null) return reject(problem)
      reading.verifiedData = signedData(reading, found.text, result.payload)
      return { ok: true, secretIndex: result.index }
    },
    readSigned(reading) {
      const found = token(reading)
      const claims = typeof found === 'string' ? null : claimsOf(found.text)
      return typeof found === 'string' || claims === null
        ? noSignedData
        : signedData(reading, found.text, claims)
    },
    async sign(draft, now) {
      const key = shared ? keys.first : privateKey(context)
      if (key === null || key === undefined) {
        throw new HookonceError('SIGNING_UNAVAILABLE', {
          provider: context.provider,
          problem: 'it has no privateKey',
        })
      }
      const at = Math.floor(now / 1_000)
      const reading = Reading.of(draft, context.document, context.publicUrl)
      const lifeSeconds = Math.max(300, Math.ceil((toleranceMs ?? 0) / 1_000))
      const claims: Record<string, unknown> = { jti: randomUUID(), iat: at, nbf: at, exp: at + lifeSeconds }
      for (const [name, text] of expected) claims[name] = text === 'true' ? true : text
      if (rule.bodyHash !== undefined) claims[rule.bodyHash.claim] = hex(draft.body)
      if (rule.urlHash !== undefined) claims[rule.urlHash.claim] = hex(reading.url)
      const signed = await new SignJWT(claims)
        .setProtectedHeader({ alg: rule.algorithms[0]!, typ: 'JWT' })
        .sign(key)
      putField(draft, place, prefix + signed)
    },
  }
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

function hex(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}

function hashIs(claim: unknown, content: string | Uint8Array): boolean {
  const claimed = typeof claim === 'string' ? decodeExact(claim, 'hex', 32) : null
  return claimed !== null && timingSafeEqual(claimed, createHash('sha256').update(content).digest())
}
