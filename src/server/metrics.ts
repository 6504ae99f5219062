/** `/metrics`, and who may read it: the counts tell a competitor how many orders there are. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Inbox } from '../inbox.js'
import { metricsContentType, metricsText } from '../telemetry/index.js'
import { hostList } from './admin/hosts.js'
import { may } from './admin/roles.js'
import { signInLimit } from './admin/sign-in-limit.js'
import { findToken, knownTokens } from './admin/tokens.js'
import { hostNames, isLoopbackHost } from './bind.js'
import type { ServerSettings } from './options.js'

export interface Metrics {
  /** False: not its path, or switched off. */
  answer(path: string, request: IncomingMessage, response: ServerResponse): boolean
}

export function createMetrics(
  current: () => Inbox,
  settings: ServerSettings,
  addressOf: (request: IncomingMessage) => string | null,
): Metrics {
  const { metrics, admin, host } = settings
  const tokens = admin === false ? [] : knownTokens(admin.tokens ?? [])
  const isOpen = metrics ?? tokens.length === 0
  // The tokens are those of the admin API: who may not guess them there may not guess them here.
  const limit = signInLimit(Date.now)

  // Where nobody needs a token, a page elsewhere could read it through the browser under a name of its own.
  const names = (admin !== false && admin.hosts) || hostNames(settings)
  const isKnown = isLoopbackHost(host) ? hostList(names) : () => true

  /** Null: they may read it. */
  function refused(request: IncomingMessage): { status: number; headers: Record<string, string> } | null {
    if (isOpen) return isKnown(request.headers.host ?? '') ? null : { status: 421, headers: {} }
    const address = addressOf(request)
    const retryAfterS = limit.blockedForS(address)
    if (retryAfterS > 0) return { status: 429, headers: { 'retry-after': String(retryAfterS) } }
    const given = /^bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1]
    const token = given === undefined ? null : findToken(tokens, given, Date.now())
    if (given !== undefined && token === null) limit.failed(address)
    if (token !== null && may(token.role, 'read')) return null
    return { status: 401, headers: { 'www-authenticate': 'Bearer' } }
  }

  return {
    answer(path, request, response) {
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
    },
  }
}
