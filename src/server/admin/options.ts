/** What the admin API is given: who may come in, and where it stands. */
import type { Role } from './roles.js'

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

/** Who is at the other end, where the server in front knows it. */
export interface Peer {
  readonly address: string | null
}
