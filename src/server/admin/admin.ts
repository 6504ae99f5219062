/**
 * The admin API as a web-standard handler: `admin(inbox, { basePath: '/admin', tokens })` mounts in anything that speaks
 * `Request` and `Response`; `nodeAdmin` in `mount.ts` is for what speaks `node:http`.
 *
 * A request passes, in this order: Host, Origin, who is asking, may they, what they send; then its route.
 */
import { Hono } from 'hono'
import { systemClock } from '../../clock.js'
import { HookonceError } from '../../errors.js'
import type { Inbox } from '../../inbox.js'
import { createDoor, type Entered } from './access.js'
import { checkOrigin, hostCheck, isSafe } from './hosts.js'
import type { AdminOptions, Peer } from './options.js'
import { problem, problemOf } from './problem.js'
import { may, rolesThatMay } from './roles.js'
import { type Answer, type Call, checked, jsonOf, type Route } from './route.js'
import { statsRoutes } from './routes/stats.js'
import { secured } from './secured.js'

export interface Admin {
  fetch(request: Request, peer?: Peer): Promise<Response>
  /** Ends its streams and its actions, and lets go of what it watches. */
  close(): Promise<void>
}

export function admin<Tx>(inbox: Inbox<Tx>, options: AdminOptions = {}): Admin {
  const basePath = checkBasePath(options.basePath ?? '')
  const checkHost = hostCheck(options.hosts)
  const door = createDoor({
    ...options,
    sessionSecret: options.sessionSecret ?? '',
    clock: systemClock,
    async onRefused(address) {
      inbox.log.warn({ step: 'admin', address }, 'a wrong token')
    },
  })
  const routes: Route[] = [...statsRoutes(inbox as Inbox)]
  const app = new Hono<{ Bindings: Peer }>().basePath(basePath)

  async function admit(route: Route, request: Request, address: string | null): Promise<Entered | null> {
    if (options.readOnly && !isSafe(request.method) && !route.evenReadOnly)
      throw new HookonceError('READ_ONLY')
    if (route.can === 'anyone') return null
    const access = await door.enter(request, address)
    if (access === null) throw new HookonceError('UNAUTHENTICATED')
    if (route.can !== 'signed-in' && !may(access.role, route.can)) {
      throw new HookonceError('FORBIDDEN', { role: access.role, roles: rolesThatMay(route.can).join(' or ') })
    }
    return access
  }

  for (const route of routes) {
    app.on(route.method, route.path, async (context) => {
      const request = context.req.raw
      const { address } = context.env
      const access = await admit(route, request, address)
      const call: Call = {
        request,
        access,
        address,
        params: checked(route.params, context.req.param(), 'The path:'),
        query: checked(route.query, onceEach(context.req.queries()), 'The query:'),
        body: route.body && !route.bodyTypes ? checked(route.body, await jsonOf(request), 'The body:') : null,
      }
      return responseOf(await route.run(call))
    })
  }
  app.notFound(() => problem(new HookonceError('ROUTE_UNKNOWN')))
  app.onError((error) => problemOf(error, inbox.log))

  return {
    async fetch(request, peer) {
      try {
        checkHost(request)
        checkOrigin(request)
        // Hono's own mount() gives its environment in the place of the peer.
        const address = typeof peer?.address === 'string' ? peer.address : null
        return secured(await app.fetch(request, { address }))
      } catch (error) {
        return secured(problemOf(error, inbox.log))
      }
    },
    async close() {},
  }
}

function responseOf(answer: Answer): Response {
  return answer instanceof Response ? answer : Response.json(answer)
}

/** A parameter given twice is a mistake somewhere; the first is not quietly taken. */
function onceEach(queries: Record<string, string[]>): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(queries).map(([name, values]) => [name, values.length === 1 ? values[0]! : values]),
  )
}

function checkBasePath(basePath: string): string {
  if (basePath === '' || /^(\/[\w.~-]+)+$/.test(basePath)) return basePath
  throw new HookonceError('INVALID_INPUT', {
    what: `The basePath "${basePath}"`,
    problem: 'write it as "/admin", with no slash at its end',
  })
}
