import { z } from 'zod'
import type { WholeInbox } from '../../../inbox/internals.js'
import { defined } from '../../../options.js'
import { parseInstant } from '../../../reconcile/options.js'
import { reconcilable } from '../../../reconcile/reconcile.js'
import { RUNS_KEPT } from '../../../store/reconciles.js'
import { audit } from '../capabilities.js'
import { reportView } from '../reconcile-view.js'
import { type Route, route } from '../route.js'
import { at, count, json } from '../shapes.js'
import { seesDetail } from '../views.js'

const text = z.string()
const countsShape = z.strictObject({
  listed: count.describe('The sender lists them, and has sent them to this endpoint: `known` + `missing`'),
  known: count.describe('The log has them'),
  missing: count.describe('The log did not have them'),
  recovered: count.describe('Missing ones that the log has now'),
  waiting: count.describe(
    'Missing ones that the sender was asked to deliver again, and that have not arrived',
  ),
  extra: count.describe('The log has them from this window, and the sender does not list them. They stay'),
})

export const reportShape = countsShape.extend({
  id: text,
  source: text,
  state: z.enum(['running', 'complete', 'failed']),
  dryRun: z.boolean(),
  by: z.enum(['schedule', 'request']),
  since: at,
  until: at,
  comparedUntil: at,
  completeUntil: at.describe('From `since` to here, the log has every event that the sender lists'),
  startedAt: at,
  finishedAt: at.nullable(),
  unsubscribed: count.describe('Listed events that this endpoint does not get'),
  types: z.record(text, countsShape),
  lacking: z
    .array(z.strictObject({ id: text, type: text, occurredAt: at, why: text.nullable() }))
    .describe('The first events that are still missing'),
  extras: z.array(text).describe('The ids of the first extra events'),
  requests: count.describe('Requests to the sender'),
  disabled: z.boolean().describe('The sender has switched the endpoint off'),
  error: text.nullable(),
  proves: text.describe('What agreement means, and what it does not'),
})

const instant = text.min(1).max(40).describe('How long ago (`3d`), or a date in ISO 8601')
const params = { source: text.min(1).describe('The name of the source') }

export function reconcileRoutes(inbox: WholeInbox): Route[] {
  return [
    route({
      method: 'POST',
      path: '/api/sources/:source/reconcile',
      id: 'reconcileSource',
      summary: 'Compare the log with the sender’s own list of events, and record what is missing',
      can: 'act',
      params,
      body: z.strictObject({
        since: instant.optional(),
        until: instant.optional(),
        dryRun: z.boolean().default(false).describe('Compare, and record nothing'),
      }),
      answers: { 200: json('The report, when the comparison has ended.', reportShape) },
      async run({ access, params: { source }, body: { since, until, dryRun } }) {
        reconcilable(inbox, source)
        const window = {
          since: since === undefined ? undefined : parseInstant('since', since),
          until: until === undefined ? undefined : parseInstant('until', until),
        }
        const note = `since ${since ?? '1d'}${dryRun ? ', dry run' : ''}`
        await audit(inbox, { actor: access!.actor, verb: 'reconcile', source, note })
        const report = await inbox.reconcile(source, { ...defined(window), dryRun })
        return reportView(report, seesDetail(access))
      },
    }),
    route({
      method: 'GET',
      path: '/api/sources/:source/reconciles',
      id: 'listReconciles',
      summary: 'The reports of comparisons with the sender, the latest first',
      can: 'read',
      params,
      query: {
        limit: z.coerce
          .number()
          .int()
          .min(1)
          .max(RUNS_KEPT)
          .default(20)
          .describe('Maximum number of reports'),
      },
      answers: { 200: json('The reports.', z.strictObject({ reports: z.array(reportShape) })) },
      async run({ access, params: { source }, query: { limit } }) {
        const reports = await inbox.reports({ source, limit })
        return { reports: reports.map((report) => reportView(report, seesDetail(access))) }
      },
    }),
  ]
}
