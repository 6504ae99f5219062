import { z } from 'zod'
import { HookonceError, invalid } from '../../../errors.js'
import type { WholeInbox } from '../../../inbox/internals.js'
import type { Source } from '../../../provider.js'
import { adviceFor } from '../attention.js'
import { audit } from '../capabilities.js'
import { hostOf, isEncrypted } from '../hosts.js'
import { countsOf, latencyOf, readWindow } from '../overview.js'
import { type Route, route } from '../route.js'
import { count, json, latencyShape } from '../shapes.js'
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
  samples: z.array(text).describe('The types that a test event can have'),
  commands: z.strictObject({
    curl: text.nullable().describe('Null when a delivery needs a signature'),
    send: text,
  }),
})

const testShape = z.strictObject({
  httpStatus: count,
  status: text,
  id: text.nullable(),
  type: text.nullable(),
  duplicate: z.boolean(),
})

export function sourceDetailRoutes(inbox: WholeInbox): Route[] {
  const params = { source: text.min(1) }
  return [
    route({
      method: 'GET',
      path: '/api/sources/:source',
      id: 'getSource',
      summary: 'One source, with what a person needs to set it up',
      can: 'read',
      params,
      answers: { 200: json('The source.', detailShape) },
      run: ({ params: { source }, request }) => detailView(inbox, source, originOf(request)),
    }),
    route({
      method: 'POST',
      path: '/api/sources/:source/test',
      id: 'sendTestEvent',
      summary: 'Send a signed sample of the provider through intake, like a delivery',
      can: 'act',
      params,
      body: z.strictObject({ type: text.min(1).max(255).optional() }),
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
  ]
}

function known(inbox: WholeInbox, name: string): Source {
  const source = inbox.sources.get(name)
  if (source === undefined)
    throw new HookonceError('UNKNOWN_SOURCE', { source: name, known: [...inbox.sources.keys()].join(', ') })
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

function originOf(request: Request): string {
  return `${isEncrypted(request) ? 'https' : 'http'}://${hostOf(request)}`
}

async function detailView(inbox: WholeInbox, name: string, origin: string) {
  const source = known(inbox, name)
  const { sources } = await readWindow(inbox, '24h')
  const own = sources.get(name)
  const counts = own ? countsOf(own) : null
  const policy = inbox.setup.retention?.get(name)
  const { scheme, answer, secretHits } = source
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
    secrets: secretHits.map((hits, index) => ({
      index,
      label: `${scheme.credential} ${index + 1} of ${secretHits.length}`,
      hits,
    })),
    ack: latencyOf(own?.ack ?? []),
    retention: policy ? { payloadsMs: policy.payloads, eventsMs: policy.events } : null,
    samples: [...source.sampleTypes],
    commands: {
      curl: source.unverified
        ? `curl -d '{"id":"evt_1","type":"order.paid"}' -H 'content-type: application/json' ${origin}/webhooks/${name}`
        : null,
      send: `npx hookonce send ${name} --to ${origin}`,
    },
  }
}
