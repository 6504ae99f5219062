import { z } from 'zod'
import type { WholeInbox } from '../../../inbox/internals.js'
import type { Attention } from '../attention.js'
import { type Route, route } from '../route.js'
import { at, count, json, spoolShape } from '../shapes.js'
import { spoolOf } from './sources.js'

const text = z.string()
/** Infinity is not JSON. */
const age = z.number().nullable()
const findingShape = z.strictObject({ name: text, value: text, ok: z.boolean(), fix: text.nullable() })

const systemShape = z.strictObject({
  version: text.nullable(),
  node: text,
  startedAt: at,
  worker: text.nullable().describe('The worker of the process that answers'),
  store: z.strictObject({
    name: text,
    up: z.boolean(),
    schema: z.strictObject({ found: count, known: count }).nullable(),
    clockSkewMs: z.number().nullable(),
    partitionsAhead: count.nullable(),
    findings: z
      .array(findingShape)
      .describe('The settings that durability depends on, and the checks of the log'),
  }),
  retention: z.strictObject({
    on: z.boolean(),
    policy: z.array(
      z.strictObject({
        source: text,
        payloadsMs: age,
        eventsMs: age,
        attemptsMs: age,
        auditsMs: age,
      }),
    ),
    runs: count,
    failures: count,
    removed: z.strictObject({ payloads: count, events: count, attempts: count, audits: count }),
  }),
  archive: z.boolean(),
  encryption: z.boolean(),
  spool: spoolShape.nullable(),
  seen: z
    .strictObject({ name: text, hits: count, misses: count, errors: count })
    .nullable()
    .describe('The cache of known events: lru or redis'),
  storeErrors: z.record(text, count).describe('By code, since this process started'),
})

export function systemRoutes(inbox: WholeInbox, attention: Attention): Route[] {
  return [
    route({
      method: 'GET',
      path: '/api/system',
      id: 'getSystem',
      summary: 'The version, the store and its durability, retention, archive, spool and cache',
      can: 'read',
      answers: { 200: json('The system. Findings of the store are at most a minute old.', systemShape) },
      run: () => systemView(inbox, attention),
    }),
  ]
}

async function systemView(inbox: WholeInbox, attention: Attention) {
  const [store, report] = await Promise.all([inbox.store(), attention.inspection()])
  const { setup, counters } = inbox
  const { runs, failures, payloads, events, attempts, audits } = counters.retention
  const finite = (ms: number) => (Number.isFinite(ms) ? ms : null)
  return {
    version: setup.version,
    node: process.versions.node,
    startedAt: setup.startedAt,
    worker: setup.worker,
    store: {
      name: store.name,
      up: report !== null,
      schema: report && { found: report.schema.found, known: report.schema.known },
      clockSkewMs: report?.skewMs ?? null,
      partitionsAhead: report?.partitionsAhead ?? null,
      findings: report
        ? [...report.settings, ...report.invariants].map(({ name, value, ok, fix }) => ({
            name,
            value,
            ok,
            fix,
          }))
        : [],
    },
    retention: {
      on: setup.retention !== null,
      policy: [...(setup.retention ?? [])].map(([source, ages]) => ({
        source,
        payloadsMs: finite(ages.payloads),
        eventsMs: finite(ages.events),
        attemptsMs: finite(ages.attempts),
        auditsMs: finite(ages.audits),
      })),
      runs,
      failures,
      removed: { payloads, events, attempts, audits },
    },
    archive: setup.archive,
    encryption: setup.encryption,
    spool: await spoolOf(inbox),
    seen: setup.seen !== null && counters.seen ? { name: setup.seen, ...seenCounts(counters.seen) } : null,
    storeErrors: { ...counters.storeErrors },
  }
}

function seenCounts({ hits, misses, errors }: NonNullable<WholeInbox['counters']['seen']>) {
  return { hits, misses, errors }
}
