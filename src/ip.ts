import { BlockList, isIP } from 'node:net'
import { invalid } from './errors.js'

/** Takes addresses and ranges such as `10.0.0.0/8`, `192.168.1.7` and `fd00::/8`. `what` names the option. */
export function addressRanges(what: string, ranges: readonly unknown[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [address = '', bits, more] = String(range).split('/')
    const version = isIP(address)
    const longest = version === 4 ? 32 : 128
    const prefix = bits === undefined ? longest : /^\d{1,3}$/.test(bits) ? Number(bits) : -1
    if (version === 0 || more !== undefined || prefix < 0 || prefix > longest)
      throw invalid(what, `must list addresses or address ranges such as 10.0.0.0/8, not "${range}"`)
    list.addSubnet(address, prefix, family(version))
  }
  return list
}

/** A text that is not an address is in no list. */
export function isInRanges(list: BlockList, address: string): boolean {
  const version = isIP(address)
  return version !== 0 && list.check(address, family(version))
}

// Node compares the mapped form of an IPv4 address (::ffff:127.0.0.1) with the ranges of IPv4.
const loopback = addressRanges('loopback', ['127.0.0.0/8', '::1'])

/** Takes a host name or an address as in a URL. Names other than localhost may resolve to any address. */
export function isLoopbackHost(host: string): boolean {
  return host.toLowerCase() === 'localhost' || isInRanges(loopback, withoutBrackets(host))
}

/** As in a Host header, with or without a port. */
export function isHost(text: string): boolean {
  return /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?$/i.test(text)
}

/** `::1` for `[::1]`. */
export function withoutBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1')
}

function family(version: number): 'ipv4' | 'ipv6' {
  return version === 4 ? 'ipv4' : 'ipv6'
}
