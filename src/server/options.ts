/** What a server is given, checked once: a wrong value stops it before it listens. */

import { invalid } from '../errors.js'
import { nearest } from '../options.js'
import type { AdminOptions } from './admin/options.js'
import type { TlsOptions } from './tls.js'
import type { TrustProxy } from './trust-proxy.js'

export interface ServerOptions {
  /** Default 127.0.0.1: this machine only. Another address needs a token, or `admin: false`. */
  readonly host?: string
  /** Default 4100; 0 = any free one. */
  readonly port?: number
  /** Default: plain HTTP, for a proxy in front that speaks TLS. */
  readonly tls?: TlsOptions
  /** Whose `X-Forwarded-*` headers are believed. Default false: nobody's. */
  readonly trustProxy?: TrustProxy
  /** How senders reach this server, `https://hooks.example.com`, for those that sign the URL. */
  readonly publicUrl?: string
  /** The admin API and its page. False: intake and health only. */
  readonly admin?: AdminOptions | false
  /**
   * `/metrics`, in the text format of Prometheus. Default: for whoever has a token of the admin API; where there are no
   * tokens, for this machine on a server that listens on loopback. True: for everybody. False: not at all.
   */
  readonly metrics?: boolean
  /** Development: no token is needed from this machine. Refused on any address but loopback. */
  readonly open?: boolean
  /** How long `close` may take. Default 8,000: `docker stop` kills after 10 seconds. */
  readonly drainMs?: number
  /** How long `/readyz` waits for the store. Default 2,000. */
  readonly readyTimeoutMs?: number
  /** How long the headers of a request may take. Default 10,000. */
  readonly headersTimeoutMs?: number
  /** How long a whole request may take to arrive. Default 15,000; intake cuts bodies earlier (`limits.bodyTimeoutMs`). */
  readonly requestTimeoutMs?: number
  /**
   * How long a connection may wait for its next request. Default 65,000: longer than the 60 seconds common proxies keep
   * theirs, so that they close first and never send into a connection that has just gone.
   */
  readonly keepAliveTimeoutMs?: number
  /** Default 10,000. More are turned away before they are read. */
  readonly maxConnections?: number
  /** Processes that share the port, for `hookonce serve`. Default 1. */
  readonly processes?: number
}

export interface ServerSettings
  extends Required<Omit<ServerOptions, 'tls' | 'publicUrl' | 'admin' | 'metrics' | 'processes'>> {
  readonly tls: TlsOptions | null
  readonly publicUrl: string | null
  readonly admin: AdminOptions | false
  readonly metrics: boolean | null
}

const numbers = {
  port: { standard: 4_100, least: 0, most: 65_535 },
  drainMs: { standard: 8_000, least: 0, most: 3_600_000 },
  readyTimeoutMs: { standard: 2_000, least: 1, most: 60_000 },
  headersTimeoutMs: { standard: 10_000, least: 100, most: 600_000 },
  requestTimeoutMs: { standard: 15_000, least: 100, most: 3_600_000 },
  keepAliveTimeoutMs: { standard: 65_000, least: 1, most: 3_600_000 },
  maxConnections: { standard: 10_000, least: 1, most: 1_000_000 },
} as const

export const serverOptionNames = [
  ...Object.keys(numbers),
  ...['host', 'tls', 'trustProxy', 'publicUrl', 'admin', 'metrics', 'open', 'processes'],
] as readonly string[]

export function serverSettings(options: ServerOptions): ServerSettings {
  for (const name of Object.keys(options)) {
    if (serverOptionNames.includes(name)) continue
    const near = nearest(name, serverOptionNames)
    throw invalid(
      `The server option "${name}"`,
      near
        ? `does not exist; did you mean "${near}"?`
        : `does not exist; known options: ${serverOptionNames.join(', ')}`,
    )
  }
  const { host = '127.0.0.1', tls = null, trustProxy = false, admin = {}, open = false } = options
  if (typeof host !== 'string' || host.trim() === '') throw invalid('server.host', 'must be an address')
  return {
    host,
    tls,
    trustProxy,
    admin,
    metrics: options.metrics ?? null,
    open,
    publicUrl: options.publicUrl === undefined ? null : publicOrigin(options.publicUrl),
    ...(Object.fromEntries(
      Object.entries(numbers).map(([name, rule]) => [name, whole(name, options[name as 'port'], rule)]),
    ) as Record<keyof typeof numbers, number>),
  }
}

function whole(
  name: string,
  given: number | undefined,
  { standard, least, most }: { standard: number; least: number; most: number },
): number {
  const value = given ?? standard
  if (!Number.isInteger(value) || value < least || value > most)
    throw invalid(`server.${name}`, `must be a whole number from ${least} to ${most}, not ${value}`)
  return value
}

/** A path in it stays: a proxy may take it off on the way here, and the sender signs what it called. */
function publicOrigin(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : null
  if (url === null || !/^https?:$/.test(url.protocol) || url.search || url.hash || url.username)
    throw invalid(
      'server.publicUrl',
      'must be the URL by which senders reach this server, such as https://hooks.example.com',
    )
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}
