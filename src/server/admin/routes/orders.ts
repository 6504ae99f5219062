/** An operator's verbs on one event. */
import { z } from 'zod'
import { HookonceError } from '../../../errors.js'
import type { Inbox } from '../../../inbox.js'
import { reasonOf } from '../reason.js'
import { type Route, route } from '../route.js'
import { json, keyParams, orderShape, reason } from '../shapes.js'
import { keyOf } from './events.js'

const verbs = {
  retry: 'Try again: a failed or ignored event gets a new start',
  replay: 'Run again from the beginning; what has succeeded only with `force`',
  ignore: 'Leave it: a pending or failed event is set aside',
} as const

export function orderRoutes(inbox: Inbox): Route[] {
  return (Object.keys(verbs) as (keyof typeof verbs)[]).map((verb) =>
    route({
      method: 'POST',
      path: `/api/events/:source/:id/${verb}`,
      id: `${verb}Event`,
      summary: verbs[verb],
      can: 'order',
      params: keyParams,
      body: z.strictObject({
        reason,
        force: z.boolean().optional().describe('Needed to replay what has succeeded'),
        dryRun: z.boolean().optional().describe('Say what would happen, change nothing'),
      }),
      answers: { 200: json('Done.', orderShape) },
      problems: [400, 404, 409],
      async run({ access, request, params, body: { force = false, dryRun = false, ...body } }) {
        const key = keyOf(params)
        const by = { actor: access!.actor, reason: reasonOf(request, body.reason), force, dryRun }
        const result = await inbox[verb](key, by)
        if (result.done) return { ...result, dryRun }
        const state = (await inbox.events.get(key))?.state ?? 'gone'
        throw new HookonceError(result.code, { ...key, verb, state })
      },
    }),
  )
}
