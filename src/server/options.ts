/** The options of a server. They are checked before it listens. */

import { invalid } from '../errors.js'
import { checkOptions, either, flag, off, type Rule, required, shape, text, whole } from '../options.js'
import { type AdminOptions, adminRule } from './admin/options.js'
import type { TlsOptions } from './bind.js'
import { type TrustProxy, trustProxyRule } from './trust-proxy.js'

export interface ServerOptions {
  /** Default 127.0.0.1: this machine only. Another address needs a token, or `admin: false`. */
  readonly host?: string
  /** Default 4100; 0 = any free port. */
  readonly port?: number
  /** Default: plain HTTP, for use behind a proxy with TLS. */
  readonly tls?: TlsOptions
  /** The proxies whose `X-Forwarded-*` headers are trusted. Default false: none. */
  readonly trustProxy?: TrustProxy
  /** The URL by which senders reach this server, `https://hooks.example.com`: some senders sign it. */
  readonly publicUrl?: string
  /** The admin API and its page. False: intake and health only. */
  readonly admin?: AdminOptions | false
  /**
   * `/metrics`, in the text format of Prometheus. Default: for callers with a token of the admin API. True: for everybody.
   * False: off.
   */
  readonly metrics?: boolean
  /** How long `close` may take. Default 8,000: `docker stop` kills after 10 seconds. */
  readonly drainMs?: number
  /**
   * How long the server still accepts requests after SIGTERM, while `/readyz` answers 503, so that a load balancer can
   * take it out. Part of `drainMs`, five eighths of it at most. Default 5,000.
   */
  readonly lameDuckMs?: number
  /** How long `/readyz` waits for the store. Default 2,000. */
  readonly readyTimeoutMs?: number
  /** How long the headers of a request may take. Default 10,000. */
  readonly headersTimeoutMs?: number
  /** How long a whole request may take to arrive. Default 15,000; intake cuts bodies earlier (`limits.bodyTimeoutMs`). */
  readonly requestTimeoutMs?: number
  /**
   * How long a connection may wait for its next request. Default 65,000. Common proxies wait 60 seconds, so they close
   * first and never send a request into a connection that the server has just closed.
   */
  readonly keepAliveTimeoutMs?: number
  /** Default 10,000. Further connections are closed without being read. */
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

export const serverRule = shape({
  host: { ...text, expected: 'an address or a host name' },
  port: whole(0, 65_535),
  tls: shape({ cert: required(text), key: required(text) }),
  trustProxy: trustProxyRule,
  publicUrl: text,
  admin: either(off, adminRule),
  metrics: flag,
  drainMs: whole(0, 3_600_000),
  lameDuckMs: whole(0, 3_600_000),
  readyTimeoutMs: whole(1, 60_000),
  headersTimeoutMs: whole(100, 600_000),
  requestTimeoutMs: whole(100, 3_600_000),
  keepAliveTimeoutMs: whole(1, 3_600_000),
  maxConnections: whole(1, 1_000_000),
  processes: whole(1, 1_024),
} satisfies Record<keyof ServerOptions, Rule>)

export function serverSettings(options: ServerOptions): ServerSettings {
  checkOptions('server', options, serverRule)
  return {
    host: options.host ?? '127.0.0.1',
    port: options.port ?? 4_100,
    tls: options.tls ?? null,
    trustProxy: options.trustProxy ?? false,
    publicUrl: options.publicUrl === undefined ? null : publicOrigin(options.publicUrl),
    admin: options.admin ?? {},
    metrics: options.metrics ?? null,
    drainMs: options.drainMs ?? 8_000,
    lameDuckMs: options.lameDuckMs ?? 5_000,
    readyTimeoutMs: options.readyTimeoutMs ?? 2_000,
    headersTimeoutMs: options.headersTimeoutMs ?? 10_000,
    requestTimeoutMs: options.requestTimeoutMs ?? 15_000,
    keepAliveTimeoutMs: options.keepAliveTimeoutMs ?? 65_000,
    maxConnections: options.maxConnections ?? 10_000,
  }
}

/** The path is kept: a proxy may remove it from the request, but the sender signs the URL that it called. */
function publicOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol) || url.search || url.hash || url.username)
    throw invalid(
      'server.publicUrl',
      'must be the URL by which senders reach this server, such as https://hooks.example.com',
    )
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}
