/** Bearer tokens: known by their hash alone, compared in constant time, each with a name, a role and perhaps an end. */
import { timingSafeEqual } from 'node:crypto'
import { sha256 } from '../../digest.js'
import { invalid } from '../../errors.js'
import type { Token } from './options.js'
import type { Role } from './roles.js'

export interface KnownToken {
  readonly name: string
  readonly role: Role
  readonly hash: Uint8Array
  /** Infinity: it does not end by itself. */
  readonly expiresAt: number
}

/** The tokens of checked options. */
export function knownTokens(tokens: readonly Token[]): readonly KnownToken[] {
  const names = new Set<string>()
  return tokens.map(({ name, role, sha256: hex, expiresAt = Number.POSITIVE_INFINITY }) => {
    if (names.has(name))
      throw invalid(
        `The token "${name}"`,
        'is configured twice; give each token its own name, because the audit shows it',
      )
    names.add(name)
    const endsAt = typeof expiresAt === 'number' ? expiresAt : Date.parse(expiresAt)
    return { name, role, hash: Buffer.from(hex, 'hex'), expiresAt: endsAt }
  })
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
