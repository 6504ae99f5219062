/**
 * Whether an address is on the public internet. The parsed address decides, never its text: there are too many ways to
 * write one. The lists are the IANA special-purpose registries
 * (https://www.iana.org/assignments/iana-ipv4-special-registry, .../iana-ipv6-special-registry). Addresses that they do
 * not call globally reachable are refused, and a few reachable ones that are nobody's webhook endpoint.
 */
import { type BlockList, isIP, SocketAddress } from 'node:net'
import { addressRanges } from '../ip.js'

const notPublic4 = addressRanges('IPv4', [
  '0.0.0.0/8', // this network
  '10.0.0.0/8',
  '100.64.0.0/10', // carrier-grade NAT, and some clouds' metadata
  '127.0.0.0/8',
  '168.63.129.16/32', // Azure's own services, on an address that looks public
  '169.254.0.0/16', // link-local, and most clouds' metadata
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // AMT
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16',
  '192.175.48.0/24', // AS112
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4', // with 255.255.255.255
])

/** Only 2000::/3 is assigned as global unicast; all other addresses are refused without a list. */
const global6 = addressRanges('IPv6', ['2000::/3'])
const notPublic6 = addressRanges('IPv6', [
  '2001::/23', // protocol assignments: Teredo, ORCHID, benchmarking, ...
  '2001:db8::/32',
  '2002::/16', // 6to4: the IPv4 address inside may be anything
  '2620:4f:8000::/48', // AS112
  '3fff::/20',
])

/** Both forms reach just the IPv4 address inside, so that address decides. */
const holding4 = addressRanges('IPv6', [
  '::ffff:0:0/96', // mapped
  '64:ff9b::/96', // NAT64: how a network without IPv4 reaches the rest (RFC 6052)
])

/** `allow` comes first, then the lists above. A text that is not an address is not public. */
export function isReachable(address: string, allow: BlockList | null): boolean {
  const family = isIP(address)
  if (family === 4) return allow?.check(address, 'ipv4') === true || !notPublic4.check(address, 'ipv4')
  // A zone (`fe80::1%eth0`) names an interface of this machine.
  if (family !== 6 || address.includes('%')) return false
  if (allow?.check(address, 'ipv6') === true) return true
  if (holding4.check(address, 'ipv6')) return isReachable(last4(address), allow)
  return global6.check(address, 'ipv6') && !notPublic6.check(address, 'ipv6')
}

/** Node writes the last 32 bits with dots for some prefixes, and as two groups for others. */
function last4(address: string): string {
  const text = new SocketAddress({ address, family: 'ipv6' }).address
  const last = text.slice(text.lastIndexOf(':') + 1)
  if (last.includes('.')) return last
  const [, high = '', low = ''] = /([0-9a-f]*):([0-9a-f]*)$/.exec(text) ?? []
  return [high, low]
    .flatMap((group) => [Number.parseInt(group || '0', 16) >> 8, Number.parseInt(group || '0', 16) & 255])
    .join('.')
}

export function allowList(what: string, ranges: readonly string[]): BlockList | null {
  return ranges.length === 0 ? null : addressRanges(what, ranges)
}
