import { z } from 'zod'
import { sha256 } from '../../../digest.js'
import { HookonceError, invalid } from '../../../errors.js'
import type { WholeInbox } from '../../../inbox/internals.js'
import { type EventKey, followedSource, limits, named } from '../../../model.js'
import type { Payload } from '../../../store.js'
import { audit, inspectOf, noteAbout } from '../capabilities.js'
import { type Route, route } from '../route.js'
import { at, json, keyParams, noteFields, payloadShape } from '../shapes.js'
import { seesDetail } from '../views.js'
import { auditedRead, existingEvent, payloadView } from './events.js'

const text = z.string()
const effectsShape = z.strictObject({
  effects: z.array(
    z.strictObject({
      name: text.nullable().describe('The key of `ctx.once`; null for viewers'),
      state: z.enum(['started', 'finished']).describe('`started`: its end was not reported'),
      startedAt: at,
      finishedAt: at.nullable(),
    }),
  ),
})

const copyBody = z.strictObject({
  body: z.base64().describe('The bytes of the new event'),
  ...noteFields,
  dryRun: z.boolean().optional().describe('Report the id without recording anything'),
})
const copyShape = z.strictObject({ ...keyParams, dryRun: z.boolean(), duplicate: z.boolean() })

/** A body of 1 MiB as base64, and the note. */
const COPY_BYTES = 1_500_000

export function detailRoutes(inbox: WholeInbox): Route[] {
  return [
    route({
      method: 'GET',
      path: '/api/events/:source/:id/effects',
      id: 'listEffects',
      summary: 'The side effects of an event (`ctx.once`), oldest first',
      can: 'read',
      params: keyParams,
      answers: { 200: json('Its effects, without their results.', effectsShape) },
      async run({ access, params: key }) {
        await existingEvent(inbox, key)
        const effects = await (await inspectOf(inbox)).effects(key)
        const detail = seesDetail(access)
        return {
          effects: effects.map(({ name, startedAt, finishedAt }) => ({
            name: detail ? name : null,
            state: finishedAt === null ? 'started' : 'finished',
            startedAt,
            finishedAt,
          })),
        }
      },
    }),
    route({
      method: 'GET',
      path: '/api/events/:source/:id/conflict',
      id: 'getConflict',
      summary:
        'The latest delivery with the id of this event and other content, an open one first; its `hash` names it in an action',
      can: 'payload',
      params: keyParams,
      query: noteFields,
      answers: { 200: json('The delivery.', payloadShape.extend({ at, hash: text })) },
      async run({ access, params: key, query }) {
        const found = await auditedRead(inbox, key, access!.actor, query.note ?? '', 'conflict')
        return { ...payloadView(key, found), at: found.at, hash: found.hash }
      },
    }),
    route({
      method: 'POST',
      path: '/api/events/:source/:id/copies',
      id: 'copyEvent',
      summary:
        'Record a new event with another body, marked by its id; the handlers run for it as for any event',
      can: 'payload',
      params: keyParams,
      body: copyBody,
      bodyBytes: COPY_BYTES,
      answers: { 200: json('The new event.', copyShape) },
      async run({ access, params: key, body: { body, dryRun = false, note = '' } }) {
        if (note === '') throw invalid('note', 'is needed: say why the body is changed')
        const event = await existingEvent(inbox, key)
        const payload = await inbox.events.payload(key)
        if (payload === null) throw new HookonceError('PAYLOAD_REMOVED', named(key))
        const bytes = Buffer.from(body, 'base64')
        refusePart(inbox, key, payload)
        const id = copyId(key.id, bytes)
        const made = { source: key.source, id, dryRun }
        if (dryRun) return { ...made, duplicate: (await inbox.events.get({ ...key, id: id })) !== null }
        const by = { actor: access!.actor, verb: 'edit', source: key.source }
        await audit(
          inbox,
          { ...by, eventId: key.id, note: noteAbout(`recorded as ${id}`, note) },
          { ...by, eventId: id, note },
        )
        const verdict = await inbox.recordCopy({
          source: key.source,
          headers: { ...payload.headers, 'hookonce-copy-of': headerText(key.id) },
          body: bytes,
          events: [
            {
              id: id,
              type: event.type,
              reference: event.reference,
              contentHash: sha256(bytes),
              guardHash: null,
            },
          ],
          contentGuard: 'accept',
        })
        if (verdict.status === 'refused') throw invalid('The new event', `was refused: ${verdict.detail}`)
        return { ...made, duplicate: verdict.status !== 'recorded' }
      },
    }),
  ]
}

/** The handler of such an event gets one part of the delivery, and a copy is a delivery of one event. */
function refusePart(inbox: WholeInbox, { source, id }: EventKey, { part, headers, body }: Payload): void {
  const known = inbox.sources.get(followedSource(source))
  const slices = known?.slices?.({ method: 'POST', url: 'http://localhost/', headers, body }) ?? []
  if (part > 0 || slices.length > 1)
    throw invalid(`The event "${id}"`, 'came in a delivery with others, and such a delivery cannot be copied')
}

/** A body always gives the same id: a request that is sent twice records one event. */
function copyId(eventId: string, body: Uint8Array): string {
  const suffix = `~edited-${Buffer.from(sha256(body)).toString('hex').slice(0, 8)}`
  const original = eventId.replace(/~edited-[0-9a-f]{8}$/, '')
  let kept = original
  while (Buffer.byteLength(kept) + suffix.length > limits.eventIdBytes) kept = kept.slice(0, -1)
  return `${kept.isWellFormed() ? kept : kept.slice(0, -1)}${suffix}`
}

/** Header values are Latin-1. */
function headerText(id: string): string {
  return encodeURIComponent(id)
}
