import type { Duration } from '../../duration.js'
import { callable, choice, duration, listOf, type Rule, required, rule, shape, text } from '../../options.js'

export const roles = ['viewer', 'operator', 'admin', 'worker'] as const
export type Role = (typeof roles)[number]

/**
 * `read`: the log, without payloads and without texts that may quote one. `detail`: those texts, and the audit. `act`:
 * retry, replay, ignore. `payload`: the bytes. `work`: claim and settle, which includes the bytes.
 */
export const permissions = ['read', 'detail', 'act', 'payload', 'work'] as const
export type Permission = (typeof permissions)[number]

/** Only this table grants permissions. Every route names one. */
const grants: Readonly<Record<Role, readonly Permission[]>> = {
  viewer: ['read'],
  operator: ['read', 'detail', 'act'],
  admin: permissions,
  worker: ['work'],
}

export function may(role: Role, permission: Permission): boolean {
  return grants[role].includes(permission)
}

export function permissionsOf(role: Role): readonly Permission[] {
  return grants[role]
}

export function rolesThatMay(permission: Permission): Role[] {
  return roles.filter((role) => may(role, permission))
}

export function isRole(value: unknown): value is Role {
  return roles.includes(value as Role)
}

export interface Token {
  /** Shown in the audit. Letters, digits and `_ . @ + -`. */
  readonly name: string
  readonly role: Role
  /** SHA-256 of the token, in hex. The token itself is not stored. */
  readonly sha256: string
  /** An ISO 8601 date, or milliseconds since 1970. Without it the token does not expire. */
  readonly expiresAt?: string | number
}

export interface Access {
  readonly actor: string
  readonly role: Role
}

export interface AdminOptions {
  /** The path where it is mounted, such as `/admin`. Default: the root. */
  readonly basePath?: string
  /** Who may sign in. Default: nobody. */
  readonly tokens?: readonly Token[]
  /** For applications with their own sign-in. When it returns null, tokens and sessions are tried next. */
  readonly authorize?: (request: Request) => Access | null | Promise<Access | null>
  /** Allowed host names, with a port or for any port. Default: `localhost`, `127.0.0.1`, `[::1]`. */
  readonly hosts?: readonly string[]
  /** How long a session lasts. Default 12 hours; it ends with its token at the latest. */
  readonly session?: Duration
}

const tokenRule = shape({
  name: required(
    rule(
      '1 to 64 letters, digits or _ . @ + -',
      (value) => typeof value === 'string' && /^[\w.@+-]{1,64}$/.test(value),
    ),
  ),
  role: required(choice(...roles)),
  sha256: required(
    rule(
      'the SHA-256 of the token as 64 hex digits',
      (value) => typeof value === 'string' && /^[0-9a-f]{64}$/i.test(value),
    ),
  ),
  // A date that cannot be read must not become a token that never expires.
  expiresAt: rule('an ISO 8601 date or milliseconds since 1970', (value) =>
    Number.isFinite(typeof value === 'number' ? value : Date.parse(String(value))),
  ),
} satisfies Record<keyof Token, Rule>)

export const adminRule = shape({
  basePath: rule(
    'a path that starts with a slash and does not end with one, such as "/admin"',
    (value) => value === '' || (typeof value === 'string' && /^(\/[\w.~-]+)+$/.test(value)),
  ),
  tokens: listOf(tokenRule),
  authorize: callable,
  hosts: listOf(text),
  session: duration(1, 366 * 86_400_000),
} satisfies Record<keyof AdminOptions, Rule>)

export interface Peer {
  /** Null when the server in front does not know it. */
  readonly address: string | null
}
