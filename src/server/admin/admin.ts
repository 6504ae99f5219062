/**
 * The admin API as a web-standard handler: `admin(inbox, { basePath: '/admin', tokens })`. Hono and Next take its
 * `fetch`. Express: `app.use(nodeAdmin(handler, '/admin'))`. Fastify: `app.register(fastifyAdmin(handler, '/admin'))`.
 *
 * The checks of a request, in order: Host, Origin, authentication, permission, input. Then its route runs.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Hono } from 'hono'
import type { FastifyLike } from '../../adapters/fastify.js'
import { pathOf } from '../../adapters/node.js'
import { HookonceError } from '../../errors.js'
import { type WholeInbox, wholeInbox } from '../../inbox/internals.js'
import type { Inbox } from '../../inbox.js'
import type { BodyBudget } from '../../intake/body-budget.js'
import { checkOptions } from '../../options.js'
import { bridge } from '../bridge.js'
import { type Authenticated, type Authenticator, bearerOf, createAuthenticator } from './access.js'
import { audit } from './capabilities.js'
import { createPages } from './dashboard/pages.js'
import { checkOrigin, checkOwnOrigin, hostCheck, isSafe } from './hosts.js'
import { type AdminOptions, adminRule, may, type Peer, rolesThatMay } from './options.js'
import { problem, problemOf, secured } from './responses.js'
import { type Answer, checked, jsonOf, type Route, SMALL_BODY_BYTES } from './route.js'
import { createRoutes } from './routes.js'
import { sessionCookies, sessionSecretOf } from './session.js'
import { withInstants } from './views.js'

export interface Admin {
  fetch(request: Request, peer?: Peer): Promise<Response>
  /** The largest body for this method and path, for callers that read the body before they call `fetch`. */
  bodyBytes(method: string, path: string): number
  readonly bodies: BodyBudget
  /** Ends the streams, the actions and the waiting claims. */
  close(): Promise<void>
}

export function admin<Tx>(of: Inbox<Tx>, options: AdminOptions = {}): Admin {
  const inbox = wholeInbox(of) as WholeInbox
  checkOptions('admin', options, adminRule)
  const { basePath = '' } = options
  const checkHost = hostCheck(options.hosts)
  const authenticator = createAuthenticator({
    ...options,
    secret: sessionSecretOf(inbox),
    onRefused: (address) => auditRefused(inbox, address),
  })
  const { routes, close } = createRoutes(inbox, authenticator, options)
  const servePage = createPages(basePath, authenticator.takesTokens)
  const app = new Hono<{ Bindings: Peer }>().basePath(basePath)
  for (const route of routes) {
    app.on(route.method, route.path, async (context) => {
      const request = context.req.raw
      const { address } = context.env
      checkOrigin(request) // a link on another site may open the page, but not a route
      const access = await admit(authenticator, route, request, address)
      const answer = await route.run({
        request,
        access,
        address,
        params: checked(route.params, context.req.param(), 'The path:'),
        query: checked(route.query, onceEach(context.req.queries()), 'The query:'),
        body: route.body && checked(route.body, await jsonOf(request, route.bodyBytes), 'The body:'),
      })
      return responseOf(answer)
    })
  }
  app.notFound(async (context) => {
    const { pathname } = new URL(context.req.url)
    const path = pathname.slice(basePath.length)
    const allow = methodsAt(routes, path)
    if (allow.length > 0) {
      return problem(new HookonceError('METHOD_REFUSED', { allow: allow.join(', ') }), {
        allow: allow.join(', '),
      })
    }
    const shown =
      isSafe(context.req.method) && !path.startsWith('/api/') ? await servePage(path, context.req.raw) : null
    return shown ?? problem(new HookonceError('ROUTE_UNKNOWN'))
  })
  app.onError((error) => problemOf(error, inbox.log))

  return {
    async fetch(request, peer) {
      try {
        checkHost(request)
        checkOrigin(request, { navigation: true })
        // On every route: a browser sends the cookie even when another site makes the request.
        if (sessionCookies(request).length > 0 && bearerOf(request.headers.get('authorization')) === null)
          checkOwnOrigin(request)
        // mount() of Hono passes its environment here.
        const address = typeof peer?.address === 'string' ? peer.address : null
        return secured(await app.fetch(request, { address }))
      } catch (error) {
        return secured(problemOf(error, inbox.log))
      }
    },
    bodyBytes(method, path) {
      const here = routesAt(routes, path.slice(basePath.length))
      return here.find((route) => route.method === method)?.bodyBytes ?? SMALL_BODY_BYTES
    },
    bodies: inbox.bodies,
    close,
  }
}

async function admit(
  authenticator: Authenticator,
  route: Route,
  request: Request,
  address: string | null,
): Promise<Authenticated | null> {
  if (route.can === 'anyone') return null
  const access = await authenticator.authenticate(request, address)
  if (access === null) throw new HookonceError('UNAUTHENTICATED')
  if (route.can !== 'signed-in' && !may(access.role, route.can)) {
    throw new HookonceError('FORBIDDEN', { role: access.role, roles: rolesThatMay(route.can).join(' or ') })
  }
  return access
}

/** A failure to log or audit does not change the answer. */
async function auditRefused(inbox: WholeInbox, address: string | null): Promise<void> {
  inbox.log.warn({ step: 'admin', address }, 'a wrong token was sent to the admin API')
  const note = address === null ? '' : `from ${address}`
  try {
    await audit(inbox, { actor: 'nobody', verb: 'sign_in_refused', note })
  } catch {
    inbox.log.error({ step: 'admin' }, 'a wrong token could not be written to the audit')
  }
}

function methodsAt(routes: readonly Route[], path: string): string[] {
  return [...new Set(routesAt(routes, path).map(({ method }) => method))]
}

function routesAt(routes: readonly Route[], path: string): Route[] {
  const segments = path.split('/')
  return routes.filter(({ path: pattern }) => {
    const wanted = pattern.split('/')
    return (
      wanted.length === segments.length &&
      wanted.every((segment, i) => segment.startsWith(':') || segment === segments[i])
    )
  })
}

function responseOf(answer: Answer): Response {
  return answer instanceof Response ? answer : Response.json(withInstants(answer))
}

/** A parameter that occurs twice stays a list, and the schema of the route refuses it. */
function onceEach(queries: Record<string, string[]>): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(queries).map(([name, values]) => [name, values.length === 1 ? values[0]! : values]),
  )
}

export type NodeAdmin = (
  request: IncomingMessage & { originalUrl?: string },
  response: ServerResponse,
  next?: (error?: unknown) => void,
) => void

/** For `node:http`, Express and Connect. Requests outside of `basePath` go to `next`. */
export function nodeAdmin(admin: Admin, basePath = ''): NodeAdmin {
  const answer = bridge(
    (request, incoming) => admin.fetch(request, { address: incoming.socket.remoteAddress ?? null }),
    { bodyBytes: admin.bodyBytes, bodies: admin.bodies },
  )
  return (request, response, next) => {
    const path = pathOf(request.originalUrl ?? request.url ?? '/')
    if (next && path !== basePath && !path.startsWith(`${basePath}/`)) return next()
    answer(request, response).catch((error) => (next ? next(error) : response.destroy()))
  }
}

/** The parsers are removed inside the plugin only: there, the admin API reads the bodies itself. */
export function fastifyAdmin(admin: Admin, basePath = ''): (app: FastifyLike) => Promise<void> {
  const answer = nodeAdmin(admin, basePath)
  return async (app) => {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', (_request, _payload, done) => done(null))
    for (const url of new Set([basePath || '/', `${basePath}/*`])) {
      app.route({
        method: ['GET', 'POST', 'DELETE'],
        url,
        handler(request, reply) {
          reply.hijack()
          answer(request.raw, reply.raw)
        },
      })
    }
  }
}
