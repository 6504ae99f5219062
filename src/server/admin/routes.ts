import type { WholeInbox } from '../../inbox/internals.js'
import type { Authenticator } from './access.js'
import { createActions } from './actions.js'
import { createAttention } from './attention.js'
import { openapi } from './openapi.js'
import type { AdminOptions } from './options.js'
import { type Route, route } from './route.js'
import { actionRoutes, eventActionRoutes } from './routes/actions.js'
import { detailRoutes } from './routes/details.js'
import { eventRoutes } from './routes/events.js'
import { findRoutes } from './routes/find.js'
import { operationRoutes } from './routes/operation.js'
import { overviewRoutes } from './routes/overview.js'
import { reconcileRoutes } from './routes/reconcile.js'
import { sessionRoutes } from './routes/sessions.js'
import { sourceDetailRoutes } from './routes/source-details.js'
import { sourceRoutes } from './routes/sources.js'
import { systemRoutes } from './routes/system.js'
import { whyRoutes } from './routes/why.js'
import { workRoutes } from './routes/work.js'
import { json, openapiShape } from './shapes.js'
import { createStreams } from './streams.js'
import { createWakes } from './wakes.js'

const STREAMS = 32

export function createRoutes(
  inbox: WholeInbox,
  authenticator: Authenticator,
  { basePath = '' }: AdminOptions,
): { routes: Route[]; close(): Promise<void> } {
  const wakes = createWakes(inbox)
  const streams = createStreams(inbox, wakes, STREAMS)
  const actions = createActions(inbox)
  const attention = createAttention(inbox)
  const routes: Route[] = [
    ...eventRoutes(inbox, streams),
    ...eventActionRoutes(inbox),
    ...actionRoutes(actions, basePath),
    ...sourceRoutes(inbox),
    ...sourceDetailRoutes(inbox),
    ...reconcileRoutes(inbox),
    ...overviewRoutes(inbox, attention),
    ...findRoutes(inbox),
    ...detailRoutes(inbox),
    ...whyRoutes(inbox),
    ...operationRoutes(inbox),
    ...systemRoutes(inbox, attention),
    ...workRoutes(inbox, wakes),
    ...sessionRoutes(inbox, authenticator, basePath),
    route({
      method: 'GET',
      path: '/api/openapi.json',
      id: 'getOpenapi',
      summary: 'The OpenAPI description of this API',
      can: 'anyone',
      answers: { 200: json('OpenAPI 3.1.', openapiShape) },
      run: async () => described,
    }),
  ]
  const described = openapi(routes, basePath)
  return {
    routes,
    async close() {
      streams.close()
      await Promise.all([wakes.close(), actions.close()])
    },
  }
}
