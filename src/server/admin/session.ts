/**
 * Sessions without a table. The cookie is `name.expiry.mac`. The key of the mac is made of the hash of the token and a
 * secret that all nodes of a log share, so every node that has the token accepts the cookie. A session ends when its
 * token is removed, replaced or expired.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { WholeInbox } from '../../inbox/internals.js'
import type { KnownToken } from './access.js'

export const COOKIE = 'hookonce_session'

export function sessionValue(token: KnownToken, expiresAt: number, secret: string): string {
  const text = `${token.name}.${expiresAt}`
  return `${text}.${macOf(token, text, secret)}`
}

export interface Session {
  readonly token: KnownToken
  readonly expiresAt: number
}

export function readSession(known: readonly KnownToken[], value: string, secret: string): Session | null {
  const match = /^([\w.@+-]{1,64})\.(\d{1,15})\.([A-Za-z0-9_-]{43})$/.exec(value)
  if (match === null) return null
  const [, name = '', expiry = '', mac = ''] = match
  const token = known.find((candidate) => candidate.name === name)
  if (token === undefined) return null
  const expected = Buffer.from(macOf(token, `${name}.${expiry}`, secret))
  if (!timingSafeEqual(expected, Buffer.from(mac))) return null
  const expiresAt = Math.min(Number(expiry), token.expiresAt)
  return expiresAt > Date.now() ? { token, expiresAt } : null
}

function macOf(token: KnownToken, text: string, secret: string): string {
  const key = createHmac('sha256', token.hash).update(`hookonce session\0${secret}`).digest()
  return createHmac('sha256', key).update(text).digest('base64url')
}

/** A browser sends several cookies when paths overlap. */
export function sessionCookies(request: Request): string[] {
  const header = request.headers.get('cookie') ?? ''
  return header
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${COOKIE}=`))
    .slice(0, 4)
    .map((pair) => pair.slice(COOKIE.length + 1))
}

export function setCookie(value: string, maxAgeS: number, path: string, secure: boolean): string {
  return `${COOKIE}=${value}; Path=${path}; Max-Age=${maxAgeS}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`
}

/** Generated once and stored in the log: all nodes have the same secret. */
export function sessionSecretOf(inbox: WholeInbox): () => Promise<string> {
  let stored: Promise<string> | undefined
  return () => {
    stored ??= inbox
      .once('hookonce session secret', () => randomBytes(32).toString('base64url'))
      .catch((error: unknown) => {
        stored = undefined // tried again with the next request
        throw error
      })
    return stored
  }
}
