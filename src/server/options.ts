import { type Duration, msOf } from '../duration.js'
import { invalid } from '../errors.js'
import {
  checkOptions,
  duration,
  either,
  flag,
  off,
  type Rule,
  required,
  shape,
  text,
  whole,
} from '../options.js'
import { type AdminOptions, adminRule } from './admin/options.js'
import type { TlsOptions } from './bind.js'
import { type TrustProxy, trustProxyRule } from './trust-proxy.js'

export interface ServerOptions {
  /** Default 127.0.0.1: this machine only. Another address needs a token, or `admin: false`. */
  readonly host?: string
  /** Default 4100; 0 = any free port. */
  readonly port?: number
  /** `cert` and `key`: file paths or PEM text. Default: plain HTTP, for use behind a proxy with TLS. */
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
  /** How long `close` may take. Default `'8s'`: `docker stop` kills after 10 seconds. */
  readonly drain?: Duration
  /**
   * How long the server still accepts requests after SIGTERM, while `/readyz` answers 503, so that a load balancer can
   * take it out. Part of `drain`, five eighths of it at most. Default `'5s'`.
   */
  readonly lameDuck?: Duration
  /** How long `/readyz` waits for the store. Default `'2s'`. */
  readonly readyTimeout?: Duration
  /**
   * How long a connection may wait for its next request. Default `'65s'`. Common proxies wait 60 seconds, so they close
   * first and never send a request into a connection that the server has just closed.
   */
  readonly keepAliveTimeout?: Duration
  /** Default 10,000. Further connections are closed without being read. */
  readonly maxConnections?: number
}

export const serverRule = shape({
  host: { ...text, expected: 'an address or a host name' },
  port: whole(0, 65_535),
  tls: shape({ cert: required(text), key: required(text) }),
  trustProxy: trustProxyRule,
  publicUrl: text,
  admin: either(off, adminRule),
  metrics: flag,
  drain: duration(0, 3_600_000),
  lameDuck: duration(0, 3_600_000),
  readyTimeout: duration(1, 60_000),
  keepAliveTimeout: duration(1, 3_600_000),
  maxConnections: whole(1, 1_000_000),
} satisfies Record<keyof ServerOptions, Rule>)

export type ServerSettings = ReturnType<typeof serverSettings>

export function serverSettings(options: ServerOptions) {
  checkOptions('server', options, serverRule)
  return {
    host: options.host ?? '127.0.0.1',
    port: options.port ?? 4_100,
    tls: options.tls ?? null,
    trustProxy: options.trustProxy ?? false,
    publicUrl: options.publicUrl === undefined ? null : publicOrigin(options.publicUrl),
    admin: options.admin ?? ({} as AdminOptions),
    metrics: options.metrics ?? null,
    drainMs: msOf(options.drain, '8s'),
    lameDuckMs: msOf(options.lameDuck, '5s'),
    readyTimeoutMs: msOf(options.readyTimeout, '2s'),
    keepAliveTimeoutMs: msOf(options.keepAliveTimeout, '65s'),
    maxConnections: options.maxConnections ?? 10_000,
  }
}

/** Keeps the path: a proxy may remove it from the request, but the sender signs the URL that it called. */
function publicOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol) || url.search || url.hash || url.username)
    throw invalid(
      'server.publicUrl',
      'must be the URL by which senders reach this server, such as https://hooks.example.com',
    )
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}
