/** Authentication: by a bearer token, by a session that a token started, or by the application. */
import { timingSafeEqual } from 'node:crypto'
import { sha256 } from '../../digest.js'
import { msOf } from '../../duration.js'
import { HookonceError, invalid } from '../../errors.js'
import { checkOwnOrigin } from './hosts.js'
import { type Access, type AdminOptions, isRole, type Role, type Token } from './options.js'
import { readSession, sessionCookies, sessionValue } from './session.js'
import { signInLimit } from './sign-in-limit.js'

export interface Authenticated extends Access {
  readonly by: 'token' | 'session' | 'application'
  readonly expiresAt: number
}

export interface Authenticator {
  /** Null when the request has no credentials. Throws TOKEN_REFUSED, SIGN_IN_LIMITED, ORIGIN_REFUSED. */
  authenticate(request: Request, address: string | null): Promise<Authenticated | null>
  /** Starts a session. `value` is that of its cookie. Throws TOKEN_REFUSED or SIGN_IN_LIMITED. */
  signIn(token: string, address: string | null): Promise<Authenticated & { readonly value: string }>
  readonly takesTokens: boolean
}

export interface AuthenticatorOptions extends Pick<AdminOptions, 'tokens' | 'authorize' | 'session'> {
  readonly secret: () => Promise<string>
  /** Called for a wrong token, up to 60 times a minute: an attacker must not flood the audit. */
  readonly onRefused: (address: string | null) => Promise<void>
}

export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { authorize, secret, onRefused } = options
  const sessionMs = msOf(options.session, '12h')
  const known = knownTokens(options.tokens ?? [])
  if (known.length === 0 && authorize === undefined) {
    throw invalid('admin()', 'needs `tokens` or `authorize`')
  }
  const limit = signInLimit()

  async function token(text: string, address: string | null): Promise<KnownToken> {
    // Checked before the limit: an attacker behind the same address must not lock out everybody with wrong tokens.
    const found = findToken(known, text)
    if (found !== null) return found
    const retryAfterS = limit.blockedForS(address)
    if (retryAfterS > 0) throw new HookonceError('SIGN_IN_LIMITED', { retryAfterS })
    if (limit.failed(address)) await onRefused(address)
    throw new HookonceError('TOKEN_REFUSED')
  }

  async function signIn(text: string, address: string | null) {
    const found = await token(text, address)
    const { name, role } = found
    const expiresAt = Math.min(Date.now() + sessionMs, found.expiresAt)
    const value = sessionValue(found, expiresAt, await secret())
    return { actor: name, role, by: 'session' as const, expiresAt, value }
  }

  async function authenticate(request: Request, address: string | null): Promise<Authenticated | null> {
    const own = await authorize?.(request)
    if (own) {
      checkOwnOrigin(request) // the application's credential may be a cookie
      return { ...checkAccess(own), by: 'application', expiresAt: Number.POSITIVE_INFINITY }
    }
    const bearer = bearerOf(request.headers.get('authorization'))
    if (bearer !== null) {
      const { name, role, expiresAt } = await token(bearer, address)
      return { actor: name, role, by: 'token', expiresAt }
    }
    for (const value of sessionCookies(request)) {
      const session = readSession(known, value, await secret())
      if (session === null) continue
      const { name, role } = session.token
      return { actor: name, role, by: 'session', expiresAt: session.expiresAt }
    }
    return null
  }

  return { authenticate, signIn, takesTokens: known.length > 0 }
}

function checkAccess({ actor, role }: Access): Access {
  if (typeof actor !== 'string' || actor === '' || !isRole(role)) {
    throw invalid('authorize()', 'must return { actor, role } or null')
  }
  return { actor, role }
}

export function bearerOf(authorization: string | null | undefined): string | null {
  return /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1] ?? null
}

export interface KnownToken {
  readonly name: string
  readonly role: Role
  readonly hash: Uint8Array
  readonly expiresAt: number
}

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

/** Compares the text with all tokens: the time taken must not reveal anything. */
export function findToken(known: readonly KnownToken[], text: string): KnownToken | null {
  const hash = sha256(Buffer.from(text))
  let found: KnownToken | null = null
  for (const token of known) {
    if (timingSafeEqual(token.hash, hash)) found = token
  }
  return found !== null && found.expiresAt > Date.now() ? found : null
}
