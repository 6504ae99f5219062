/**
 * Checks the Host and the origin of a request. A page of another site can make a browser call this server under its own
 * name (DNS rebinding). Only the Host header shows this, so every route checks it.
 */
import { HookonceError, invalid } from '../../errors.js'
import { isHost } from '../../ip.js'

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

export function hostCheck(hosts: readonly string[] = LOOPBACK): (request: Request) => void {
  const isListed = hostList(hosts)
  return (request) => {
    if (!isListed(hostOf(request))) throw new HookonceError('HOST_REFUSED')
  }
}

/** An entry with a port allows that port; an entry without one allows any port. */
export function hostList(hosts: readonly string[]): (host: string) => boolean {
  const allowed = new Set(hosts.map(normal))
  return (requested) => {
    const host = requested.toLowerCase()
    return allowed.has(host) || allowed.has(withoutPort(host))
  }
}

function normal(host: string): string {
  if (!isHost(host)) {
    throw invalid(
      `The host "${host}"`,
      'must be a host name, or a host name and a port, such as "hooks.example.com"',
    )
  }
  return host.toLowerCase()
}

export function hostOf(request: Request): string {
  return request.headers.get('host') ?? new URL(request.url).host
}

/** True for TLS here or at a proxy. The header may be forged, but it only makes the cookie of the caller stricter. */
export function isEncrypted(request: Request): boolean {
  return request.url.startsWith('https:') || request.headers.get('x-forwarded-proto') === 'https'
}

function withoutPort(host: string): string {
  return host.replace(/:\d*$/, '')
}

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])

export function isSafe(method: string): boolean {
  return SAFE.has(method)
}

/**
 * Refuses requests from a page of another origin. Browsers send Sec-Fetch-Site, older ones Origin; programs send
 * neither. `navigation` allows links on other sites.
 */
export function checkOrigin(request: Request, { navigation = false } = {}): void {
  const site = request.headers.get('sec-fetch-site')
  const foreign = site !== null && site !== 'same-origin' && site !== 'none'
  if (foreign && !(navigation && isSafe(request.method))) throw new HookonceError('ORIGIN_REFUSED')
  const origin = request.headers.get('origin')
  if (origin !== null && originHost(origin) !== hostOf(request).toLowerCase()) {
    throw new HookonceError('ORIGIN_REFUSED')
  }
}

/**
 * A browser adds the cookie to requests of any page. So the headers must show that a page of this origin sent the
 * request; a request without these headers is refused.
 */
export function checkOwnOrigin(request: Request): void {
  if (isSafe(request.method)) return
  const site = request.headers.get('sec-fetch-site')
  if (site === 'same-origin') return
  if (site !== null || request.headers.get('origin') === null) throw new HookonceError('ORIGIN_REFUSED')
  checkOrigin(request)
}

function originHost(origin: string): string | null {
  try {
    return new URL(origin).host.toLowerCase()
  } catch {
    return null // the text `null`, from a sandboxed frame or a file
  }
}
