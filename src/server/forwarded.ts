/**
 * Whether a request was passed on by a proxy or a tunnel. It then comes from this machine and from anywhere at the same
 * time, so the address of the connection says nothing about who asks.
 */
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
