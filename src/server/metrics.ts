/** `/metrics`. The counts are business figures, so they are not public by default. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { WholeInbox } from '../inbox/internals.js'
import { isLoopbackHost } from '../ip.js'
import { metricsContentType, metricsText } from '../telemetry/index.js'
import { bearerOf, findToken, knownTokens } from './admin/access.js'
import { hostList } from './admin/hosts.js'
import { may } from './admin/options.js'
import { signInLimit } from './admin/sign-in-limit.js'
import { hostNames } from './bind.js'
import type { ServerSettings } from './options.js'

interface Refused {
  readonly status: number
  readonly headers: Record<string, string>
}

/** Returns false for other paths, and when metrics are off. */
export function createMetrics(
  current: () => WholeInbox,
  settings: ServerSettings,
  addressOf: (request: IncomingMessage) => string | null,
): (path: string, request: IncomingMessage, response: ServerResponse) => boolean {
  const { metrics, admin, host } = settings
  const tokens = admin === false ? [] : knownTokens(admin.tokens ?? [])
  // Guessing the tokens of the admin API must be as slow here as there.
  const limit = signInLimit()

  // With `metrics: true` a web page could read the metrics through the browser (DNS rebinding), so the host is checked.
  const names = (admin !== false && admin.hosts) || hostNames(settings)
  const isKnown = isLoopbackHost(host) ? hostList(names) : () => true

  function refused(request: IncomingMessage): Refused | null {
    if (metrics === true) return unlessKnownHost(request)
    if (tokens.length === 0) return { status: 403, headers: {} }
    const address = addressOf(request)
    const bearer = bearerOf(request.headers.authorization)
    const token = bearer === null ? null : findToken(tokens, bearer)
    if (token !== null && may(token.role, 'read')) return null
    const retryAfterS = limit.blockedForS(address)
    if (retryAfterS > 0) return { status: 429, headers: { 'retry-after': String(retryAfterS) } }
    if (bearer !== null && token === null) limit.failed(address)
    return { status: 401, headers: { 'www-authenticate': 'Bearer' } }
  }

  function unlessKnownHost({ headers }: IncomingMessage): Refused | null {
    return isKnown(headers.host ?? '') ? null : { status: 421, headers: {} }
  }

  return (path, request, response) => {
    if (path !== '/metrics' || metrics === false) return false
    const refusal = refused(request)
    if (request.method !== 'GET' && request.method !== 'HEAD')
      response.writeHead(405, { allow: 'GET, HEAD' }).end()
    else if (refusal !== null) response.writeHead(refusal.status, refusal.headers).end()
    else {
      metricsText(current()).then(
        (text) => response.writeHead(200, { 'content-type': metricsContentType }).end(text),
        () => response.destroy(),
      )
    }
    return true
  }
}
