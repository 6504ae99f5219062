/**
 * Counts wrong tokens by address. After too many, further wrong tokens from that address are refused for the rest of the
 * minute. This makes guessing slow and keeps the audit small. An IPv6 network counts as one address.
 */
const WINDOW_MS = 60_000
const PER_ADDRESS = 10
/** Failures a minute that are written to the audit, over all addresses. */
const AUDITED = 60
const ADDRESSES = 10_000

interface Count {
  until: number
  failures: number
}

export function signInLimit() {
  const counts = new Map<string, Count>()
  const all: Count = { until: 0, failures: 0 }

  function add(count: Count): number {
    if (count.until <= Date.now()) {
      count.until = Date.now() + WINDOW_MS
      count.failures = 0
    }
    return ++count.failures
  }

  return {
    /** Seconds to wait; 0 when the address is not limited. */
    blockedForS(address: string | null): number {
      const count = counts.get(networkOf(address))
      if (count === undefined || count.failures < PER_ADDRESS || count.until <= Date.now()) return 0
      return Math.ceil((count.until - Date.now()) / 1_000)
    },
    /** Counts a wrong token. Returns true when it is to be written to the audit. */
    failed(address: string | null): boolean {
      const network = networkOf(address)
      const count = counts.get(network) ?? { until: 0, failures: 0 }
      counts.delete(network)
      counts.set(network, count)
      if (counts.size > ADDRESSES) counts.delete(counts.keys().next().value!)
      add(count)
      return add(all) <= AUDITED
    },
  }
}

/** An IPv4 address, or the first 64 bits of an IPv6 address: one host can use all addresses of such a network. */
function networkOf(address: string | null): string {
  if (address === null) return '(unknown)'
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  if (mapped) return mapped[1]!
  if (!address.includes(':')) return address
  const [head = '', tail] = address.split('%', 1)[0]!.split('::', 2)
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? [] : Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0')
  return [...left, ...zeros, ...right]
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')
}
