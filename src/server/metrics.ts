/** `/metrics`, and who may read it: the counts tell a competitor how many orders there are. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Inbox } from '../inbox.js'
import { metricsContentType, metricsText } from '../telemetry/index.js'
import { may } from './admin/roles.js'
import { findToken, knownTokens } from './admin/tokens.js'
import type { ServerSettings } from './options.js'

export interface Metrics {
  /** False: not its path, or switched off. */
  answer(path: string, request: IncomingMessage, response: ServerResponse): boolean
}

export function createMetrics(current: () => Inbox, { metrics, admin }: ServerSettings): Metrics {
  const tokens = admin === false ? [] : knownTokens(admin.tokens ?? [])
  const isOpen = metrics ?? tokens.length === 0

  function mayRead(request: IncomingMessage): boolean {
    if (isOpen) return true
    const given = /^bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1]
    const token = given === undefined ? null : findToken(tokens, given, Date.now())
    return token !== null && may(token.role, 'read')
  }

  return {
    answer(path, request, response) {
      if (path !== '/metrics' || metrics === false) return false
      if (request.method !== 'GET' && request.method !== 'HEAD')
        response.writeHead(405, { allow: 'GET, HEAD' }).end()
      else if (!mayRead(request)) response.writeHead(401, { 'www-authenticate': 'Bearer' }).end()
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
