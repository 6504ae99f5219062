import { z } from 'zod'
import { msOf } from '../../../duration.js'
import { invalid } from '../../../errors.js'
import { destinationStates, destinationsOf } from '../../../forward/destinations.js'
import type { HandlerState, WholeInbox } from '../../../inbox/internals.js'
import { audit, inspectOf, noteAbout } from '../capabilities.js'
import { latencyOf } from '../overview.js'
import { noteOf, type Route, route } from '../route.js'
import { at, count, json, latencyShape, noteFields } from '../shapes.js'
import { seesDetail } from '../views.js'

const text = z.string()

const handlerShape = z.strictObject({
  source: text,
  pattern: text,
  kind: z.enum(['one', 'batch', 'destination']),
  paused: z.boolean(),
  sourcePaused: z.boolean(),
  active: count.describe('Attempts that run now in this process'),
  concurrency: count.nullable(),
  timeoutMs: count.nullable(),
  order: z.enum(['reference']).nullable(),
  maxAttempts: count.nullable().describe('Null: without a limit'),
  since: z.strictObject({
    attempts: count,
    succeeded: count,
    ignored: count,
    failed: count,
    lost: count,
    postponed: count,
    retries: count,
    dead: count,
  }),
  duration: latencyShape,
})
const handlersShape = z.strictObject({
  process: text.describe('The process that answers: handlers and pauses are those of this process'),
  startedAt: at,
  handlers: z.array(handlerShape),
})

const handlerKey = z.strictObject({
  source: text.min(1),
  pattern: text
    .min(1)
    .optional()
    .describe('The pattern of one handler; left out: all handlers of the source'),
  ...noteFields,
})

const destinationShape = z.strictObject({
  name: text,
  origin: text,
  sources: z.array(text),
  types: z.array(text),
  paused: z.boolean(),
  pauseReason: text.nullable(),
  pausedAt: at.nullable(),
  nextProbeAt: at.nullable(),
  failuresInARow: count,
  active: count,
  sent: count,
  failed: count,
  postponed: count,
  waiting: count.describe('Unfinished events of its sources'),
  lastHttpStatus: count.nullable(),
  lastSentAt: at.nullable(),
  lastFailedAt: at.nullable(),
  lastProblem: text.nullable().describe('Null for viewers'),
})

const processShape = z.strictObject({
  id: text,
  version: text,
  node: text,
  host: text,
  pid: count,
  worker: text.nullable(),
  startedAt: at,
  seenAt: at,
  alive: z.boolean().describe('True when it has written a note within the last 30 seconds'),
})
const workersShape = z.strictObject({
  workers: z.array(
    z.strictObject({
      worker: text,
      leases: count,
      expired: count.describe('Leases whose time is over: the worker did not report'),
      oldestClaimedAt: at.nullable(),
      expiresAt: at.nullable(),
      process: processShape.nullable(),
    }),
  ),
  processes: z.array(processShape),
})

const ALIVE_MS = 30_000

export function operationRoutes(inbox: WholeInbox): Route[] {
  return [
    route({
      method: 'GET',
      path: '/api/handlers',
      id: 'listHandlers',
      summary: 'The handlers of the process that answers, and what they did since it started',
      can: 'read',
      answers: { 200: json('By source and pattern.', handlersShape) },
      run: async () => ({
        process: inbox.history.id,
        startedAt: inbox.setup.startedAt,
        handlers: inbox
          .handlers()
          .map((handler) => handlerView(inbox, handler))
          .sort((a, b) => (`${a.source} ${a.pattern}` < `${b.source} ${b.pattern}` ? -1 : 1)),
      }),
    }),
    ...(['pause', 'resume'] as const).map((verb) =>
      route({
        method: 'POST',
        path: `/api/handlers/${verb}`,
        id: `${verb}Handler`,
        summary: `${verb === 'pause' ? 'Pause' : 'Resume'} a handler or all handlers of a source, in the process that answers`,
        can: 'act',
        body: handlerKey,
        answers: {
          200: json('Done.', z.strictObject({ source: text, pattern: text.nullable(), paused: z.boolean() })),
        },
        async run({ access, request, body: { source, pattern, ...said } }) {
          if (!inbox.sources.has(source)) throw invalid(`The source "${source}"`, 'does not exist')
          inbox[verb](source, pattern)
          const about = pattern === undefined ? 'all handlers' : `handler ${pattern}`
          const note = noteAbout(about, noteOf(request, said))
          await audit(inbox, { actor: access!.actor, verb, source, note })
          return { source, pattern: pattern ?? null, paused: verb === 'pause' }
        },
      }),
    ),
    route({
      method: 'GET',
      path: '/api/destinations',
      id: 'listDestinations',
      summary: 'The destinations of the process that answers',
      can: 'read',
      answers: { 200: json('By name.', z.strictObject({ destinations: z.array(destinationShape) })) },
      run: async ({ access }) => ({ destinations: await destinationViews(inbox, seesDetail(access)) }),
    }),
    ...(['pause', 'resume'] as const).map((verb) =>
      route({
        method: 'POST',
        path: `/api/destinations/:name/${verb}`,
        id: `${verb}Destination`,
        summary: `${verb === 'pause' ? 'Pause' : 'Resume'} a destination in the process that answers`,
        can: 'act',
        params: { name: text.min(1) },
        body: z.strictObject(noteFields),
        answers: { 200: json('Its state.', destinationShape) },
        async run({ access, request, params: { name }, body }) {
          const destinations = destinationsOf(inbox)
          if (destinations === null) throw invalid(`The destination "${name}"`, 'does not exist')
          destinations[verb](name)
          const note = noteAbout(`destination ${name}`, noteOf(request, body))
          await audit(inbox, { actor: access!.actor, verb, note })
          return (await destinationViews(inbox, true)).find((view) => view.name === name)!
        },
      }),
    ),
    route({
      method: 'GET',
      path: '/api/workers',
      id: 'listWorkers',
      summary: 'The leases of each worker, and the processes that share the log',
      can: 'read',
      answers: { 200: json('By name.', workersShape) },
      run: () => workersView(inbox),
    }),
  ]
}

function handlerView(inbox: WholeInbox, handler: HandlerState) {
  const { source, pattern, batch, paused, sourcePaused, active, options, retry, counters } = handler
  const { succeeded, ignored, failed, lost, postponed } = counters.attempts
  const forwards = destinationStates(inbox).some(
    ({ sources, types }) => sources.includes(source) && types.includes(pattern),
  )
  return {
    source,
    pattern,
    kind: forwards ? 'destination' : batch ? 'batch' : 'one',
    paused,
    sourcePaused,
    active,
    concurrency: options.concurrency ?? null,
    timeoutMs: options.timeout === undefined ? null : msOf(options.timeout, 0),
    order: options.order ?? null,
    maxAttempts: Number.isFinite(retry.maxAttempts) ? retry.maxAttempts : null,
    since: {
      attempts: succeeded + ignored + failed + lost,
      succeeded,
      ignored,
      failed,
      lost,
      postponed,
      retries: counters.retries,
      dead: counters.deadLetters,
    },
    duration: latencyOf(counters.handlerSeconds.counts),
  }
}

async function destinationViews(inbox: WholeInbox, detail: boolean) {
  const states = destinationStates(inbox)
  const stats = states.length === 0 ? [] : await inbox.events.stats()
  const unfinished = (names: readonly string[]) =>
    stats
      .filter(({ source }) => names.includes(source))
      .reduce((sum, { pending, processing, retrying }) => sum + pending + processing + retrying, 0)
  return states.map((state) => ({
    ...state,
    lastProblem: detail ? state.lastProblem : null,
    waiting: unfinished(state.sources),
  }))
}

async function workersView(inbox: WholeInbox) {
  const inspect = await inspectOf(inbox)
  const now = Date.now()
  const [leases, seen] = await Promise.all([inspect.leases(), inbox.history.processes()])
  const processes = seen.map(({ handles: _, ...process }) => ({
    ...process,
    alive: process.id === inbox.history.id || now - process.seenAt < ALIVE_MS,
  }))
  return {
    workers: leases.map((lease) => ({
      ...lease,
      process: processes.find(({ worker }) => worker === lease.worker) ?? null,
    })),
    processes,
  }
}
