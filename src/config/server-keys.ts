/** The keys under `server`, and what each must be. */

import {
  callable,
  choice,
  either,
  flag,
  listOf,
  off,
  type Rule,
  rule,
  shape,
  text,
  whole,
} from '../options.js'
import type { AdminOptions, Token } from '../server/admin/options.js'
import { roles } from '../server/admin/roles.js'
import type { ServerOptions } from '../server/options.js'

const token = shape({
  name: text,
  role: choice(...roles),
  sha256: rule('the SHA-256 of the token in hex, 64 digits', (value) =>
    /^[0-9a-f]{64}$/i.test(String(value)),
  ),
  expiresAt: either(text, whole(0)),
} satisfies Record<keyof Token, Rule>)

const admin = shape({
  basePath: rule('text', (value) => typeof value === 'string'),
  readOnly: flag,
  tokens: listOf(token),
  authorize: callable,
  open: flag,
  hosts: listOf(text),
  sessionSecret: text,
  sessionMs: whole(1),
  maxStreams: whole(0),
  static: callable,
} satisfies Record<keyof AdminOptions, Rule>)

export const serverKeys = shape({
  host: text,
  port: whole(0, 65_535),
  tls: shape({ cert: text, key: text }),
  trustProxy: either(flag, whole(0, 100), listOf(text)),
  publicUrl: text,
  admin: either(off, admin),
  metrics: flag,
  open: flag,
  drainMs: whole(0),
  readyTimeoutMs: whole(1),
  headersTimeoutMs: whole(100),
  requestTimeoutMs: whole(100),
  keepAliveTimeoutMs: whole(1),
  maxConnections: whole(1),
  processes: whole(1, 1_024),
} satisfies Record<keyof ServerOptions, Rule>)
