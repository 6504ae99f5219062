/** Orders on every event a filter finds: answered at once when short, watched and cancelled when long. */
import { z } from 'zod'
import type { Actions } from '../actions.js'
import { filterBody, filterOf } from '../filter.js'
import { reasonOf } from '../reason.js'
import { type Route, route } from '../route.js'
import { actionShape, json, reason } from '../shapes.js'

/** What ends within this is answered with its result. */
const WAIT_MS = 1_000

export function actionRoutes(actions: Actions, basePath: string): Route[] {
  const params = { id: z.uuid() }
  return [
    route({
      method: 'POST',
      path: '/api/events/actions',
      id: 'startAction',
      summary: 'Retry, replay or ignore every event a filter finds',
      can: 'order',
      body: z.strictObject({
        verb: z.enum(['retry', 'replay', 'ignore']),
        filter: filterBody,
        dryRun: z.boolean().default(false).describe('Count what would happen, change nothing'),
        force: z.boolean().default(false).describe('Needed to replay what has succeeded'),
        rate: z.number().min(1).max(100_000).optional().describe('Events a second at most'),
        reason,
      }),
      answers: {
        200: json('It has ended.', actionShape),
        202: json('It is running: look at it under its id, in this process.', actionShape),
      },
      problems: [400, 429],
      async run({ access, request, body: { verb, filter, dryRun, force, rate, reason: why } }) {
        const order = {
          verb,
          filter: filterOf(filter),
          dryRun,
          force,
          ...(rate === undefined ? {} : { ratePerSecond: rate }),
          actor: access!.actor,
          reason: reasonOf(request, why),
        }
        const action = await actions.start(order, WAIT_MS)
        if (action.state !== 'running') return action
        return Response.json(action, {
          status: 202,
          headers: { location: `${basePath}/api/actions/${action.id}` },
        })
      },
    }),
    route({
      method: 'GET',
      path: '/api/actions/:id',
      id: 'getAction',
      summary: 'How far an action has come',
      can: 'order',
      params,
      answers: { 200: json('The action.', actionShape) },
      problems: [400, 404],
      run: async ({ params: { id } }) => actions.get(id),
    }),
    route({
      method: 'DELETE',
      path: '/api/actions/:id',
      id: 'cancelAction',
      summary: 'Stop an action; what it has done stays done',
      can: 'order',
      params,
      answers: { 200: json('It has stopped.', actionShape) },
      problems: [400, 404],
      run: async ({ params: { id } }) => actions.cancel(id),
    }),
  ]
}
