/**
 * Who is at the other end, and how they called us, when proxies stand in between. Each proxy appends the address it was
 * called from to `X-Forwarded-For`, so the list is read from its end, and only as far as the proxies are ours: what is
 * further left was written by the caller.
 */
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { isEncrypted } from '../adapters/node.js'
import { addressRanges, isInRanges } from '../ip.js'
import { checkOptions, either, flag, listOf, text, whole } from '../options.js'

/**
 * `false`: no proxy. A number: so many of ours stand in front. A list: the addresses and ranges of ours (`10.0.0.0/8`).
 * `true`: everything is believed, also what the caller wrote; only behind a proxy that replaces these headers.
 */
export type TrustProxy = boolean | number | readonly string[]

export const trustProxyRule = either(flag, whole(0, 100), listOf(text))

export interface Caller {
  /** Null when the connection is gone. */
  readonly address: string | null
  readonly encrypted: boolean
  /** The host they asked for; null when they gave none that can be one. */
  readonly host: string | null
}

export function callers(trust: TrustProxy): (request: IncomingMessage) => Caller {
  const trustedHops = hopRule(trust)
  return (request) => {
    const peer = normal(request.socket.remoteAddress)
    const direct = { address: peer, encrypted: isEncrypted(request), host: hostname(request.headers.host) }
    if (trustedHops === null) return direct
    const chain = list(request.headers['x-forwarded-for'])
    const hops = trustedHops(peer, chain)
    if (hops === 0) return direct
    const proto = nthFromEnd(list(request.headers['x-forwarded-proto']), hops)?.toLowerCase()
    return {
      address: addressAt(chain, hops) ?? peer,
      encrypted: proto === undefined ? direct.encrypted : proto === 'https',
      host: hostname(nthFromEnd(list(request.headers['x-forwarded-host']), hops)) ?? direct.host,
    }
  }
}

/** How they called us, as an origin. */
export function originOf({ encrypted, host }: Caller): string {
  return `${encrypted ? 'https' : 'http'}://${host ?? 'localhost'}`
}

type HopRule = (peer: string | null, chain: readonly string[]) => number

function hopRule(trust: TrustProxy): HopRule | null {
  checkOptions('server.trustProxy', trust, trustProxyRule)
  if (trust === false || trust === 0) return null
  if (trust === true) return (_peer, chain) => Math.max(1, chain.length)
  if (typeof trust === 'number') return () => trust
  const ours = addressRanges(
    'server.trustProxy',
    trust.flatMap((range) => named[String(range)] ?? [range]),
  )
  const isOurs = (address: string | null) => address !== null && isInRanges(ours, address)
  return (peer, chain) => {
    if (!isOurs(peer)) return 0
    let hops = 1
    while (hops <= chain.length && isOurs(normal(chain[chain.length - hops]))) hops++
    return hops
  }
}

/** The address the outermost of our proxies was called from; where fewer came through, the first there is. */
function addressAt(chain: readonly string[], hops: number): string | null {
  return normal(nthFromEnd(chain, hops))
}

function nthFromEnd(values: readonly string[], n: number): string | undefined {
  return values[Math.max(0, values.length - n)]
}

function list(header: string | string[] | undefined): string[] {
  if (header === undefined) return []
  return String(header)
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}

/** Without a port, brackets or the mapped form of IPv4; null when it is no address. */
function normal(text: string | undefined): string | null {
  if (text === undefined) return null
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? text.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
  const address = bare.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')
  return isIP(address) === 0 ? null : address
}

function hostname(text: string | undefined): string | null {
  return text !== undefined && /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?$/i.test(text) ? text : null
}

const named: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
}

const HEADERS = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-original-forwarded-for',
  'true-client-ip',
  'cf-connecting-ip',
  'cf-ray',
  'fastly-client-ip',
  'fly-client-ip',
]

export function wasForwarded(has: (name: string) => boolean): boolean {
  return HEADERS.some(has)
}
