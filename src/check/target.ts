/** Where an examination may go: this machine, unless its owner says that the endpoint is theirs. */
import { invalid } from '../errors.js'
import { isLoopbackHost } from '../ip.js'

/** The flag that says so; also named in the error. */
export const OWNER_FLAG = '--i-own-this-endpoint'

export function targetUrl(text: string, what: string, owned: boolean): URL {
  let url: URL
  try {
    url = new URL(text)
  } catch {
    throw invalid(what, `must be a whole URL such as http://localhost:3000/webhooks/stripe, not "${text}"`)
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw invalid(what, `must begin with http: or https:, not ${url.protocol}`)
  if (!owned && !isLoopback(url.hostname)) {
    throw invalid(
      what,
      `is not on this machine (${url.hostname}). The check sends forged and repeated test events, so run it only against an endpoint of your own, and confirm that with ${OWNER_FLAG}`,
    )
  }
  return url
}

export function isLoopback(hostname: string): boolean {
  const host = hostname.replace(/\.$/, '')
  return host.endsWith('.localhost') || isLoopbackHost(host)
}
