/**
 * Checks where an outgoing request may go. The WHATWG parser reads the URL: it turns every spelling of an address
 * (octal, hexadecimal, one big number, full-width digits) into one. A name is resolved once, all of its addresses are
 * checked, and the connection goes to those addresses: a second answer of the resolver cannot change the target.
 */
import { lookup as systemLookup } from 'node:dns/promises'
import { type BlockList, isIP, type LookupFunction } from 'node:net'
import { HookonceError, invalid } from '../errors.js'
import { withoutBrackets } from '../ip.js'
import { isReachable } from './address.js'

export interface Address {
  readonly address: string
  readonly family: 4 | 6
}

export type Lookup = (
  name: string,
) => Promise<readonly { readonly address: string; readonly family: number }[]>

export const lookupAll: Lookup = (name) => systemLookup(name, { all: true, verbatim: true })

/** Browsers refuse these ports too: other protocols use them (https://fetch.spec.whatwg.org/#port-blocking). */
const refusedPorts = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
  109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
  526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
  3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
])

/** Works without a DNS lookup. The text of the URL is never part of an error, because it may contain a token. */
export function checkUrl(what: string, text: string, allow: BlockList | null): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url) throw invalid(`The URL of ${what}`, 'must be a whole URL such as https://example.com/path')
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw invalid(`The URL of ${what}`, `must begin with https: or http:, not ${url.protocol}`)
  if (url.username !== '' || url.password !== '')
    throw invalid(
      `The URL of ${what}`,
      'must not contain a user name or password; put credentials into `headers`',
    )
  if (refusedPorts.has(portOf(url)))
    throw invalid(`The URL of ${what}`, `must not use port ${portOf(url)}, which belongs to another protocol`)
  const host = withoutBrackets(url.hostname)
  if (isIP(host) !== 0 && !isReachable(host, allow)) throw forbidden(what, host)
  return url
}

export async function checkedAddresses(
  what: string,
  host: string,
  allow: BlockList | null,
  lookup: Lookup,
): Promise<readonly Address[]> {
  const literal = isIP(host)
  const found = literal === 0 ? await lookup(host) : [{ address: host, family: literal }]
  const addresses = found.map(({ address }): Address => ({ address, family: isIP(address) === 6 ? 6 : 4 }))
  for (const { address } of addresses) if (!isReachable(address, allow)) throw forbidden(what, address)
  if (addresses.length === 0)
    throw new HookonceError('DESTINATION_FAILED', { what, problem: 'its name has no address' })
  return addresses
}

export function pinned(addresses: readonly Address[]): LookupFunction {
  return (_name, { all }, callback) => {
    const [first] = addresses
    if (all) callback(null, [...addresses])
    else callback(null, first!.address, first!.family)
  }
}

export function portOf(url: URL): number {
  return url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
}

function forbidden(what: string, address: string): HookonceError {
  return new HookonceError('DESTINATION_FORBIDDEN', {
    what,
    address,
    range: `${address}/${isIP(address) === 6 ? 128 : 32}`,
  })
}
