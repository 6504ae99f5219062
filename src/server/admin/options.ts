/** The options of the admin API, and its roles. */
import {
  anyText,
  callable,
  choice,
  flag,
  listOf,
  type Rule,
  required,
  rule,
  shape,
  text,
  whole,
} from '../../options.js'

/** Every route names one permission; this table is the only place that grants it. */
export const roles = ['viewer', 'operator', 'admin', 'worker'] as const
export type Role = (typeof roles)[number]

/**
 * `read`: the log without payloads and without texts that may quote one. `detail`: those texts (errors, reasons), and
 * the audit. `order`: retry, replay, ignore. `payload`: the bytes. `work`: claim and settle, which includes the bytes.
 */
export type Permission = 'read' | 'detail' | 'order' | 'payload' | 'work'

const grants: Readonly<Record<Role, readonly Permission[]>> = {
  viewer: ['read'],
  operator: ['read', 'detail', 'order'],
  admin: ['read', 'detail', 'order', 'payload', 'work'],
  worker: ['work'],
}

export function may(role: Role, permission: Permission): boolean {
  return grants[role].includes(permission)
}

export function rolesThatMay(permission: Permission): Role[] {
  return roles.filter((role) => may(role, permission))
}

export function isRole(value: unknown): value is Role {
  return roles.includes(value as Role)
}

/** One way in: a name for the audit, what it may do, and the SHA-256 of the token itself. */
export interface Token {
  /** Shown in the audit. Letters, digits and `_ . @ + -`. */
  readonly name: string
  readonly role: Role
  /** SHA-256 of the token, in hex. The token itself is kept nowhere. */
  readonly sha256: string
  /** An ISO 8601 date, or milliseconds since 1970. Without it the token does not end by itself. */
  readonly expiresAt?: string | number
}

/** Who is there, and what they may do. */
export interface Access {
  readonly actor: string
  readonly role: Role
}

export interface AdminOptions {
  /** Where it is mounted: `/admin`. Default: the root. */
  readonly basePath?: string
  /** Refuses everything that changes something; signing in and out stay possible. */
  readonly readOnly?: boolean
  readonly tokens?: readonly Token[]
  /** For applications with a sign-in of their own. Null: not this one; tokens are looked at next. */
  readonly authorize?: (request: Request) => Access | null | Promise<Access | null>
  /** Development on loopback: everybody there is `local`, with the role admin. Host and Origin are still checked. */
  readonly open?: boolean
  /** Names this server answers to, with a port or for any port. Default: `localhost`, `127.0.0.1`, `[::1]`. */
  readonly hosts?: readonly string[]
  /** Mixed into the keys of sessions, the same on every node. Default: a random one that is kept in the log. */
  readonly sessionSecret?: string
  /** How long a sign-in lasts. Default 12 hours, never beyond the token. */
  readonly sessionMs?: number
  /** Streams open at once. Default 32. */
  readonly maxStreams?: number
  /** Files of a dashboard, by path below the mount point, as in the URL; null = none: the small page is shown. */
  readonly static?: (path: string) => Response | null | Promise<Response | null>
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
  readOnly: flag,
  tokens: listOf(tokenRule),
  authorize: callable,
  open: flag,
  hosts: listOf(text),
  sessionSecret: anyText,
  sessionMs: whole(1),
  maxStreams: whole(0),
  static: callable,
} satisfies Record<keyof AdminOptions, Rule>)

/** Who is at the other end, where the server in front knows it. */
export interface Peer {
  readonly address: string | null
}
