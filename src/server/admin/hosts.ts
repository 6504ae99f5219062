/**
 * Where a request says it goes and where it says it comes from. A page elsewhere can make a browser call this server
 * under a name of its own (DNS rebinding): only the Host header tells, so it is checked on every route.
 */
import { HookonceError, invalid } from '../../errors.js'

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

export type HostCheck = (request: Request) => void

/** Throws HOST_REFUSED for a host that is not on the list. */
export function hostCheck(hosts: readonly string[] = LOOPBACK): HostCheck {
  const isListed = hostList(hosts)
  return (request) => {
    if (!isListed(hostOf(request))) throw new HookonceError('HOST_REFUSED')
  }
}

/** With its port, or for any port. */
export function hostList(hosts: readonly string[]): (host: string) => boolean {
  const allowed = new Set(hosts.map(normal))
  return (requested) => {
    const host = requested.toLowerCase()
    return allowed.has(host) || allowed.has(withoutPort(host))
  }
}

function normal(host: string): string {
  if (!/^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?$/i.test(host)) {
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

/** Over TLS, here or at a proxy. Who lies about it only makes their own cookie stricter. */
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
 * Throws ORIGIN_REFUSED for a request made by a page of another origin. Browsers say so in Sec-Fetch-Site, older ones in
 * Origin; programs send neither. `navigation`: a link from elsewhere may lead here.
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
 * A cookie comes along by itself, so what rides on one must prove that it was sent by a page of this origin: saying
 * nothing is not enough.
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
    return null // `null`: a sandboxed frame, a file
  }
}
