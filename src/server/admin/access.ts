/** Who is asking: a bearer token, a session made from one, the application's own sign-in, or loopback in development. */
import type { Clock } from '../../clock.js'
import { HookonceError, invalid } from '../../errors.js'
import { isLoopbackAddress } from '../../ip.js'
import { wasForwarded } from '../forwarded.js'
import { checkOwnOrigin } from './hosts.js'
import type { Access, AdminOptions } from './options.js'
import { isRole } from './roles.js'
import { readSession, sessionCookies } from './session.js'
import type { SessionSecret } from './session-secret.js'
import { type SignInLimit, signInLimit } from './sign-in-limit.js'
import { findToken, type KnownToken, knownTokens } from './tokens.js'

/** With how they came in and until when, for sessions and streams. */
export interface Entered extends Access {
  readonly by: 'token' | 'session' | 'application' | 'open'
  readonly expiresAt: number
}

export interface Door {
  /** Null: nobody. Throws TOKEN_REFUSED, SIGN_IN_LIMITED, ORIGIN_REFUSED. */
  enter(request: Request, address: string | null): Promise<Entered | null>
  /** The token this text is. Throws TOKEN_REFUSED or SIGN_IN_LIMITED. */
  token(text: string, address: string | null): Promise<KnownToken>
  /** Whether a token can be used to sign in here. */
  readonly takesTokens: boolean
}

export interface DoorOptions extends Pick<AdminOptions, 'tokens' | 'authorize' | 'open'> {
  readonly sessionSecret: SessionSecret
  readonly clock: Clock
  /** Called for each wrong token that is worth a line in the audit. */
  readonly onRefused: (address: string | null) => Promise<void>
}

export function createDoor(options: DoorOptions): Door {
  const { authorize, open = false, clock, sessionSecret, onRefused } = options
  const known = knownTokens(options.tokens ?? [])
  if (known.length === 0 && authorize === undefined && !open) {
    throw invalid('admin()', 'needs `tokens`, `authorize` or (for development) `open: true`')
  }
  const limit: SignInLimit = signInLimit(() => clock.now())

  async function token(text: string, address: string | null): Promise<KnownToken> {
    // A right token is never held up: strangers behind the same address could lock everybody out with wrong ones.
    const found = findToken(known, text, clock.now())
    if (found !== null) return found
    const retryAfterS = limit.blockedForS(address)
    if (retryAfterS > 0) throw new HookonceError('SIGN_IN_LIMITED', { retryAfterS })
    if (limit.failed(address)) await onRefused(address)
    throw new HookonceError('TOKEN_REFUSED')
  }

  async function enter(request: Request, address: string | null): Promise<Entered | null> {
    const own = await authorize?.(request)
    if (own) {
      checkOwnOrigin(request) // the application's credential may be a cookie
      return { ...checkAccess(own), by: 'application', expiresAt: Number.POSITIVE_INFINITY }
    }
    const bearer = bearerOf(request)
    if (bearer !== null) {
      const { name, role, expiresAt } = await token(bearer, address)
      return { actor: name, role, by: 'token', expiresAt }
    }
    for (const value of sessionCookies(request)) {
      const session = readSession(known, value, clock.now(), await sessionSecret())
      if (session === null) continue
      const { name, role } = session.token
      return { actor: name, role, by: 'session', expiresAt: session.expiresAt }
    }
    if (open && isLocal(request, address)) {
      return { actor: 'local', role: 'admin', by: 'open', expiresAt: Number.POSITIVE_INFINITY }
    }
    return null
  }

  return { enter, token, takesTokens: known.length > 0 }
}

function checkAccess({ actor, role }: Access): Access {
  if (typeof actor !== 'string' || actor === '' || !isRole(role)) {
    throw invalid('authorize()', 'must return { actor, role } or null')
  }
  return { actor, role }
}

/** The bearer token of a request; null for any other Authorization header, which says nothing here. */
export function bearerOf(request: Request): string | null {
  return /^bearer +(\S+) *$/i.exec(request.headers.get('authorization') ?? '')?.[1] ?? null
}

/** An address that is not known, or that of a proxy here, may stand for anybody. */
function isLocal({ headers }: Request, address: string | null): boolean {
  return address !== null && isLoopbackAddress(address) && !wasForwarded((name) => headers.has(name))
}
