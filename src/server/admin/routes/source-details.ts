import { z } from 'zod'
import { curlCommand } from '../../../curl.js'
import { invalid } from '../../../errors.js'
import type { WholeInbox } from '../../../inbox/internals.js'
import { unknownSource } from '../../../nearest.js'
import type { Delivery, Source } from '../../../provider.js'
import { SUMMED_RUNS, summaryOf } from '../../../reconcile/summary.js'
import { alarmKinds } from '../../../silence/alarm.js'
import { adviceFor } from '../attention.js'
import { audit } from '../capabilities.js'
import { hostOf, isEncrypted } from '../hosts.js'
import { countsOf, latencyOf, readWindow } from '../overview.js'
import { reportView } from '../reconcile-view.js'
import { type Route, route } from '../route.js'
import { at, count, json, latencyShape } from '../shapes.js'
import { instant, seesDetail } from '../views.js'
import { reportShape } from './reconcile.js'
import { sourceShape, sourceView } from './sources.js'

const text = z.string()
const detailShape = sourceShape.extend({
  url: text.describe('The URL to enter at the provider, by the host of this request'),
  handled: z.array(text).describe('The types that have a handler in this process'),
  answer: z.strictObject({
    httpStatus: count,
    timeLimitMs: count.nullable().describe('How long the sender waits for the answer'),
  }),
  signatureIn: z.array(text).describe('Where the signature is read from'),
  toleranceMs: count.nullable().describe('The largest accepted age of a signed time'),
  passRate: z
    .number()
    .min(0)
    .max(1)
    .nullable()
    .describe('Accepted of all deliveries in 24 hours; null without any'),
  rejections: z
    .array(z.strictObject({ reason: text, count, todo: text }))
    .describe('In 24 hours, over all processes, the most frequent first'),
  reportsSilenceAt: at
    .nullable()
    .describe('When its silence is reported if nothing comes; null while its rhythm is not known'),
  alarms: z
    .array(z.strictObject({ kind: z.enum(alarmKinds), since: at, text, todo: text }))
    .describe('Why it needs a person: it is silent, its deliveries are rejected, a type has stopped'),
  disables: z
    .strictObject({ when: text, again: text, docs: text })
    .nullable()
    .describe('What its sender does with an endpoint that fails, if it documents that'),
  secrets: z
    .array(
      z.strictObject({
        index: count,
        label: text.describe('Its position in the configuration; the secret itself is never shown'),
        hits: count.describe('Deliveries that it matched in this process'),
      }),
    )
    .describe('In the configured order; the first signs'),
  ack: latencyShape.describe('In 24 hours'),
  retention: z.strictObject({ payloadsMs: z.number(), eventsMs: z.number() }).nullable(),
  reconcile: z
    .strictObject({
      problem: text.nullable().describe('What is missing before the log can be compared; null when it can'),
      every: z.union([text, z.number()]).nullable().describe('The schedule; null without one'),
      summary: z
        .strictObject({
          missing: count.describe(
            'The sender lists them and the log lacks them, after the last run that ended',
          ),
          extra: count,
          completeUntil: at.describe('The log has everything up to here'),
          checkedAt: at,
        })
        .nullable()
        .describe('Null before the first run has ended'),
      last: reportShape.nullable(),
    })
    .nullable()
    .describe('Null when hookonce knows no list of this sender'),
  samples: z.array(text).describe('The types that a test event can have'),
  commands: z.strictObject({
    curl: text.nullable().describe('Null when a delivery needs a signature'),
    send: text,
  }),
})

const testBody = z.strictObject({
  type: text.min(1).max(255).optional().describe('The event type of the sample (default: the first)'),
})

const testShape = z.strictObject({
  httpStatus: count,
  status: text,
  id: text.nullable(),
  type: text.nullable(),
  duplicate: z.boolean(),
})

export function sourceDetailRoutes(inbox: WholeInbox): Route[] {
  const params = { source: text.min(1).describe('The name of the source') }
  return [
    route({
      method: 'GET',
      path: '/api/sources/:source',
      id: 'getSource',
      summary: 'One source, with what a person needs to set it up',
      can: 'read',
      params,
      answers: { 200: json('The source.', detailShape) },
      run: ({ params: { source }, request, access }) =>
        detailView(inbox, source, originOf(request), seesDetail(access)),
    }),
    route({
      method: 'POST',
      path: '/api/sources/:source/test',
      id: 'sendTestEvent',
      summary: 'Send a signed sample of the provider through intake, like a delivery',
      can: 'act',
      params,
      body: testBody,
      answers: { 200: json('The answer of intake.', testShape) },
      async run({ access, request, params: { source: name }, body: { type } }) {
        const source = known(inbox, name)
        const url = `${originOf(request)}/webhooks/${name}`
        const delivery = await signedSample(source, type, url)
        await audit(inbox, { actor: access!.actor, verb: 'test', source: name, note: type ?? '' })
        const receipt = await inbox.receive(name, delivery)
        const { httpStatus, status, eventId, duplicate } = receipt
        const event = eventId === null ? null : await inbox.events.get({ source: name, id: eventId })
        return { httpStatus, status, id: eventId, type: event?.type ?? null, duplicate }
      },
    }),
    route({
      method: 'POST',
      path: '/api/sources/:source/sample',
      id: 'signSample',
      summary: 'A signed sample of the provider as a curl command, to be sent from another machine',
      can: 'act',
      params,
      body: testBody,
      answers: {
        200: json(
          'The command. Senders whose signature has a time accept it only for some minutes.',
          z.strictObject({
            curl: text
              .nullable()
              .describe(
                'Null where the signature does not cover the body: it could be used again for another',
              ),
          }),
        ),
      },
      async run({ access, request, params: { source: name }, body: { type } }) {
        const source = known(inbox, name)
        if (!mayShow(source)) return { curl: null }
        const url = `${originOf(request)}/webhooks/${name}`
        const delivery = await signedSample(source, type, url)
        await audit(inbox, { actor: access!.actor, verb: 'sign', source: name, note: type ?? '' })
        return { curl: curlOf(url, delivery) }
      },
    }),
  ]
}

/**
 * Only where the signature covers the body: a token, or a signature of something else, could be used again for any body. The
 * sample is signed, never a body of the caller.
 */
function mayShow({ scheme: { covers }, unverified }: Source): boolean {
  return unverified || covers.body === 'bytes' || covers.body === 'values'
}

function known(inbox: WholeInbox, name: string): Source {
  const source = inbox.sources.get(name)
  if (source === undefined) throw unknownSource(name, inbox.sources.keys())
  return source
}

async function signedSample(source: Source, type: string | undefined, url: string) {
  try {
    const now = Date.now()
    // A new id each time: the sample of a provider has a fixed one, and would be a duplicate.
    const id = `test_${now.toString(36)}${Math.floor(Math.random() * 1_296).toString(36)}`
    const sample = source.sample({ now, id, ...(type === undefined ? {} : { type }) })
    return await source.sign({ ...sample, url })
  } catch (error) {
    throw invalid('A test event', `cannot be made for this source: ${(error as Error).message.slice(0, 200)}`)
  }
}

/** With the id and the type where this source reads them. */
async function acceptedCurl(source: Source, url: string): Promise<string> {
  return curlOf(url, await source.sign({ ...source.sample({ now: Date.now(), id: 'evt_1' }), url }))
}

function curlOf(url: string, { headers, body }: Delivery): string {
  const bytes = Buffer.from(body)
  return curlCommand({ url, headers, text: bytes.toString(), base64: bytes.toString('base64') })
}

function originOf(request: Request): string {
  return `${isEncrypted(request) ? 'https' : 'http'}://${hostOf(request)}`
}

async function detailView(inbox: WholeInbox, name: string, origin: string, detail: boolean) {
  const source = known(inbox, name)
  const { sources } = await readWindow(inbox, '24h')
  const own = sources.get(name)
  const health = (await inbox.health().catch(() => null))?.find((found) => found.source === name)
  const counts = own ? countsOf(own) : null
  const policy = inbox.setup.retention?.get(name)
  const { scheme, answer, secretHits, disables } = source
  return {
    ...sourceView(inbox, name, source),
    url: `${origin}/webhooks/${name}`,
    handled: [...inbox.handled(name)],
    answer: { httpStatus: answer.httpStatus ?? 200, timeLimitMs: answer.timeLimitMs },
    signatureIn: [...scheme.signatureIn],
    toleranceMs: scheme.timestamp?.toleranceMs ?? null,
    passRate: counts && counts.received > 0 ? 1 - Math.min(1, counts.rejected / counts.received) : null,
    rejections: Object.entries(own?.rejected ?? {})
      .map(([reason, number]) => ({ reason, count: number, todo: adviceFor(reason) }))
      .sort((a, b) => b.count - a.count),
    reportsSilenceAt: health?.reportsAt ?? null,
    alarms: (health?.alarms ?? []).map(({ kind, since, text, todo }) => ({
      kind,
      since: new Date(since).toISOString(),
      text,
      todo,
    })),
    disables: disables ? { when: disables.when, again: disables.again, docs: disables.docs } : null,
    secrets: secretHits.map((hits, index) => ({
      index,
      label: `${scheme.credential} ${index + 1} of ${secretHits.length}`,
      hits,
    })),
    ack: latencyOf(own?.ack ?? []),
    retention: policy ? { payloadsMs: policy.payloads, eventsMs: policy.events } : null,
    reconcile: await reconcileView(inbox, name, source, detail),
    samples: [...source.sampleTypes],
    commands: {
      curl: source.unverified ? await acceptedCurl(source, `${origin}/webhooks/${name}`) : null,
      send: `npx hookonce send ${name} --to ${origin}`,
    },
  }
}

async function reconcileView(inbox: WholeInbox, name: string, { list, reconcile }: Source, detail: boolean) {
  if (!list) return null
  const reports = await inbox.reports({ source: name, limit: SUMMED_RUNS })
  const summary = summaryOf(reports)
  const [last] = reports
  return {
    problem: list.problem,
    every: reconcile?.every ?? null,
    summary: summary && {
      missing: summary.missing,
      extra: summary.extra,
      completeUntil: instant(summary.completeUntil),
      checkedAt: summary.checkedAt,
    },
    last: last ? reportView(last, detail) : null,
  }
}
