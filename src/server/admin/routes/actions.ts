/** Actions of an operator: on one event, and on all events that match a filter. */
import { z } from 'zod'
import { HookonceError, invalid } from '../../../errors.js'
import type { WholeInbox } from '../../../inbox/internals.js'
import { named } from '../../../model.js'
import { defined } from '../../../options.js'
import type { Actions } from '../actions.js'
import { filterBody } from '../filter.js'
import { LARGE_BODY_BYTES, type Route, route, SMALL_BODY_BYTES } from '../route.js'
import { actionResultShape, actionShape, json, keyParams, noteFields } from '../shapes.js'

const verbs = {
  retry: 'Retry a failed or ignored event',
  replay: 'Run an event again from the beginning; a succeeded event needs `force`',
  ignore: 'Ignore a pending or failed event: it is not retried',
} as const

const conflictOption = {
  replay: 'Run other content: the open one with this `hash`, or with `true` the latest',
  ignore:
    'Keep the present content, in any state of the event, and change nothing else: decides against the open content with this `hash`, or with `true` against all',
} as const
const effectsOption =
  'What you have found out about effects of `ctx.once` whose end is unknown, by name: the result, or `null` when it did not happen'
const decidedEffects = z.record(z.string(), z.unknown())
type Body = { readonly conflict?: boolean | string; readonly effects?: Readonly<Record<string, unknown>> }
const otherContent = z.union([z.boolean(), z.string().regex(/^[0-9a-f]{64}$/)])

export function eventActionRoutes(inbox: WholeInbox): Route[] {
  return (Object.keys(verbs) as (keyof typeof verbs)[]).map((verb) =>
    route({
      method: 'POST',
      path: `/api/events/:source/:id/${verb}`,
      id: `${verb}Event`,
      summary: verbs[verb],
      can: 'act',
      params: keyParams,
      // The result of an effect may be large.
      bodyBytes: verb === 'ignore' ? SMALL_BODY_BYTES : LARGE_BODY_BYTES,
      body: z.strictObject({
        ...noteFields,
        force: z.boolean().optional().describe('Needed to replay succeeded events'),
        dryRun: z.boolean().optional().describe('Report the result without changing anything'),
        ...(verb !== 'ignore' && { effects: decidedEffects.optional().describe(effectsOption) }),
        ...(verb !== 'retry' && { conflict: otherContent.optional().describe(conflictOption[verb]) }),
      }),
      answers: { 200: json('Done.', actionResultShape) },
      async run({ access, params: key, body: { force = false, dryRun = false, ...body } }) {
        const { conflict = false, effects } = body as Body
        const by = {
          actor: access!.actor,
          note: body.note ?? '',
          force,
          dryRun,
          conflict,
          ...defined({ effects }),
        }
        const result = await inbox[verb](key, by)
        if (result.done) return { ...result, dryRun }
        const state = (await inbox.events.get(key))?.state ?? 'gone'
        throw new HookonceError(result.code, { ...named(key), verb, state })
      },
    }),
  )
}

/** An action that ends within this time is answered with its result. */
const WAIT_MS = 1_000

export function actionRoutes(actions: Actions, basePath: string): Route[] {
  const params = { id: z.uuid().describe('The id of the action') }
  return [
    route({
      method: 'POST',
      path: '/api/events/actions',
      id: 'startAction',
      summary: 'Retry, replay or ignore all events that match a filter, or the given events',
      can: 'act',
      bodyBytes: LARGE_BODY_BYTES,
      body: z.strictObject({
        verb: z.enum(['retry', 'replay', 'ignore']).describe('What to do with the events'),
        filter: filterBody.optional().describe('The conditions of `GET /api/events`'),
        events: z
          .array(z.strictObject(keyParams))
          .min(1)
          .max(1_000)
          .optional()
          .describe('These events, in place of `filter`'),
        dryRun: z.boolean().default(false).describe('Count the events without changing anything'),
        force: z.boolean().default(false).describe('Needed to replay succeeded events'),
        conflict: z
          .boolean()
          .default(false)
          .describe('With `ignore`: keep the first content of each event, and change nothing else'),
        rate: z.number().min(1).max(100_000).optional().describe('Maximum number of events a second'),
        ...noteFields,
      }),
      answers: {
        200: json('The action has ended.', actionShape),
        202: json('The action is running. Ask the same process for its progress, by its id.', actionShape),
      },
      async run({ access, body: { verb, filter, events, dryRun, force, conflict, rate, note = '' } }) {
        if ((filter === undefined) === (events === undefined))
          throw invalid('The body', 'must have either filter or events')
        const wanted = {
          verb,
          filter: filter ? defined(filter) : events!,
          dryRun,
          force,
          conflict,
          ...(rate === undefined ? {} : { ratePerSecond: rate }),
          actor: access!.actor,
          note,
        }
        const action = await actions.start(wanted, WAIT_MS)
        if (action.state !== 'running') return action
        return Response.json(action, {
          status: 202,
          headers: { location: `${basePath}/api/actions/${action.id}` },
        })
      },
    }),
    route({
      method: 'GET',
      path: '/api/actions',
      id: 'listActions',
      summary: 'The actions of this process that run or ended within the last hour, the latest first',
      can: 'act',
      answers: { 200: json('The actions.', z.strictObject({ actions: z.array(actionShape) })) },
      run: async () => ({ actions: actions.list() }),
    }),
    route({
      method: 'GET',
      path: '/api/actions/:id',
      id: 'getAction',
      summary: 'The progress of an action',
      can: 'act',
      params,
      answers: { 200: json('The action.', actionShape) },
      run: async ({ params: { id } }) => actions.get(id),
    }),
    route({
      method: 'DELETE',
      path: '/api/actions/:id',
      id: 'cancelAction',
      summary: 'Cancel an action; events that it has changed stay changed',
      can: 'act',
      params,
      answers: { 200: json('The action has stopped.', actionShape) },
      run: async ({ params: { id } }) => actions.cancel(id),
    }),
  ]
}
