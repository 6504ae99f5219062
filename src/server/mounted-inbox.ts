/** One inbox behind a server, with its intake and its admin API. A reload mounts a new one. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { nodeHandler } from '../adapters/node.js'
import { type WholeInbox, wholeInbox } from '../inbox/internals.js'
import type { Inbox } from '../inbox.js'
import { type Admin, admin } from './admin/admin.js'
import { hostNames } from './bind.js'
import { bridge } from './bridge.js'
import type { ServerSettings } from './options.js'
import type { Callers } from './trust-proxy.js'

export interface MountedInbox {
  readonly inbox: WholeInbox
  intake(request: IncomingMessage, response: ServerResponse): void
  other(request: IncomingMessage, response: ServerResponse): void
  endStreams(): void
}

export function mountInbox(
  of: Inbox,
  settings: ServerSettings,
  { callerOf, originOf }: Callers,
): MountedInbox {
  const inbox = wholeInbox(of)
  const { publicUrl } = settings
  const intake = nodeHandler(inbox, { origin: publicUrl ?? originOf })
  const api = adminOf(inbox, settings)
  const answer =
    api === null
      ? null
      : bridge((request, incoming) => api.fetch(request, { address: callerOf(incoming).address }), {
          bodyBytes: api.bodyBytes,
          bodies: inbox.bodies,
        })

  return {
    inbox,
    intake(request, response) {
      intake(request, response).catch(() => response.destroy())
    },
    other(request, response) {
      if (answer === null) return notFound(inbox, response)
      // An absolute URL: the API must see the scheme that the browser used, not that of the last proxy.
      const caller = callerOf(request)
      if (caller.encrypted && request.url?.startsWith('/'))
        request.url = `https://${request.headers.host ?? 'localhost'}${request.url}`
      answer(request, response).catch(() => response.destroy())
    },
    endStreams: () => void api?.close(),
  }
}

function notFound(inbox: WholeInbox, response: ServerResponse): void {
  const { httpStatus, headers, body } = inbox.refused(null, 'unknown_source')
  response.writeHead(httpStatus, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body)
}

function adminOf(inbox: WholeInbox, settings: ServerSettings): Admin | null {
  if (settings.admin === false) return null
  const options = { hosts: hostNames(settings), ...settings.admin }
  if (options.tokens?.length || options.authorize) return admin(inbox, options)
  inbox.log.warn(
    { step: 'admin' },
    'the admin API is off, because no way to sign in is configured. Set HOOKONCE_ADMIN_TOKEN, or `admin: false` to hide this warning',
  )
  return null
}
