/**
 * Reads the address, scheme and host of the original request behind proxies. Each proxy appends the address of its
 * caller to `X-Forwarded-For`. So the list is read from its end, as far as the proxies are trusted: the caller can
 * invent the entries before them.
 */
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { isEncrypted } from '../adapters/node.js'
import { addressRanges, isHost, isInRanges } from '../ip.js'
import { checkOptions, either, flag, listOf, text, whole } from '../options.js'

/**
 * `false`: no proxy. A number: the number of trusted proxies in front. A list: the addresses and ranges of trusted
 * proxies (`10.0.0.0/8`). `true`: all entries are trusted, so use it only behind a proxy that replaces these headers.
 */
export type TrustProxy = boolean | number | readonly string[]

export const trustProxyRule = either(flag, whole(0, 100), listOf(text))

export interface Caller {
  readonly address: string | null
  readonly encrypted: boolean
  /** Null when it is missing or malformed. */
  readonly host: string | null
}

export interface Callers {
  callerOf(request: IncomingMessage): Caller
  originOf(request: IncomingMessage): string
}

export function callers(trust: TrustProxy): Callers {
  const trustedHops = hopRule(trust)

  function callerOf(request: IncomingMessage): Caller {
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

  return {
    callerOf,
    originOf(request) {
      if (trustedHops === null) return originAt(isEncrypted(request), hostname(request.headers.host))
      const { encrypted, host } = callerOf(request)
      return originAt(encrypted, host)
    },
  }
}

function originAt(encrypted: boolean, host: string | null): string {
  return `${encrypted ? 'https' : 'http'}://${host ?? 'localhost'}`
}

type HopRule = (peer: string | null, chain: readonly string[]) => number

function hopRule(trust: TrustProxy): HopRule | null {
  checkOptions('server.trustProxy', trust, trustProxyRule)
  if (trust === false || trust === 0) return null
  if (trust === true) return (_peer, chain) => Math.max(1, chain.length)
  if (typeof trust === 'number') return () => trust
  const trusted = addressRanges(
    'server.trustProxy',
    trust.flatMap((range) => named[String(range)] ?? [range]),
  )
  const isTrusted = (address: string | null) => address !== null && isInRanges(trusted, address)
  return (peer, chain) => {
    if (!isTrusted(peer)) return 0
    let hops = 1
    while (hops <= chain.length && isTrusted(normal(chain[chain.length - hops]))) hops++
    return hops
  }
}

/** The caller of the outermost trusted proxy. A shorter list gives its first entry. */
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

/** Removes port, brackets and zone, and writes an IPv4-mapped address as IPv4. Null when it is not an address. */
function normal(text: string | undefined): string | null {
  if (text === undefined) return null
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? text.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
  const address = bare.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')
  return isIP(address) === 0 ? null : address
}

function hostname(text: string | undefined): string | null {
  return text !== undefined && isHost(text) ? text : null
}

const named: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
}
