/** Bearer tokens: known by their hash alone, compared in constant time, each with a name, a role and perhaps an end. */
import { timingSafeEqual } from 'node:crypto'
import { sha256 } from '../../digest.js'
import { invalid } from '../../errors.js'
import type { Token } from './options.js'
import { isRole, type Role, roles } from './roles.js'

export interface KnownToken {
  readonly name: string
  readonly role: Role
  readonly hash: Uint8Array
  /** Infinity: it does not end by itself. */
  readonly expiresAt: number
}

export function knownTokens(tokens: readonly Token[]): readonly KnownToken[] {
  const names = new Set<string>()
  return tokens.map((token) => {
    const { name, role, sha256: hex, expiresAt } = token
    if (typeof name !== 'string' || !/^[\w.@+-]{1,64}$/.test(name)) {
      throw invalid('The name of a token', 'must be 1 to 64 letters, digits or _ . @ + -')
    }
    if (names.has(name))
      throw invalid(
        `The token "${name}"`,
        'is configured twice; give each token its own name, because the audit shows it',
      )
    names.add(name)
    if (!isRole(role)) throw invalid(`The role of the token "${name}"`, `must be one of ${roles.join(', ')}`)
    if (typeof hex !== 'string' || !/^[0-9a-f]{64}$/i.test(hex)) {
      throw invalid(`The token "${name}"`, 'needs `sha256`: the SHA-256 of the token as 64 hex digits')
    }
    return { name, role, hash: Buffer.from(hex, 'hex'), expiresAt: endOf(name, expiresAt) }
  })
}

function endOf(name: string, expiresAt: string | number | undefined): number {
  if (expiresAt === undefined) return Number.POSITIVE_INFINITY
  const at = typeof expiresAt === 'number' ? expiresAt : Date.parse(expiresAt)
  // A date that cannot be read must not become a token without an end.
  if (!Number.isFinite(at))
    throw invalid(`expiresAt of the token "${name}"`, 'must be an ISO 8601 date or milliseconds since 1970')
  return at
}

/** The token this text is, if its time is not over. Looks at all of them, so that the time taken tells nothing. */
export function findToken(known: readonly KnownToken[], text: string, now: number): KnownToken | null {
  const hash = sha256(Buffer.from(text))
  let found: KnownToken | null = null
  for (const token of known) {
    if (timingSafeEqual(token.hash, hash)) found = token
  }
  return found !== null && found.expiresAt > now ? found : null
}
