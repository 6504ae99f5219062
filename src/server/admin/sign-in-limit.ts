/**
 * Counts wrong tokens by address. After too many, further wrong tokens from that address are refused for the rest of
 * the minute. Guessing becomes slow, and the audit stays small.
 */
const WINDOW_MS = 60_000
const PER_ADDRESS = 10
/** Failures a minute that the audit gets, over all addresses. */
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
    /** Returns true when the audit gets this failure. */
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

/** An IPv6 network of 64 bits counts as one address: one host can use all of its addresses. */
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
