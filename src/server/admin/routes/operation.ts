import { z } from 'zod'
import { msOf } from '../../../duration.js'
import { invalid } from '../../../errors.js'
import { destinationStates, destinationsOf } from '../../../forward/destinations.js'
import type { HandlerState, WholeInbox } from '../../../inbox/internals.js'
import type { HandlerLimit } from '../../../processing/handler.js'
import { inspectOf } from '../capabilities.js'
import { latencyOf } from '../overview.js'
import { type Route, route } from '../route.js'
import { at, count, json, latencyShape, noteFields, pauseShape } from '../shapes.js'
import { pauseView, seesDetail } from '../views.js'

const text = z.string()

const pausesShape = z.strictObject({ pauses: z.array(pauseShape) })
const pauseChangeShape = pausesShape.extend({
  changed: z.boolean().describe('False: it was so already'),
})

const handlerShape = z.strictObject({
  source: text,
  pattern: text,
  kind: z.enum(['one', 'batch', 'destination']),
  pause: pauseShape.nullable().describe('What holds back all its events'),
  active: count.describe('Attempts that run now in this process'),
  limit: z
    .strictObject({
      concurrency: count.nullable(),
      perSecond: z.number().nullable(),
      by: z.enum(['reference']).nullable(),
    })
    .nullable()
    .describe('Holds across all processes'),
  timeoutMs: count.nullable(),
  order: z.string().nullable().describe('`reference`, or the label that events are ordered by'),
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
  process: text.describe('The process that answers: the handlers are those of this process'),
  startedAt: at,
  handlers: z.array(handlerShape),
})

const pauseBody = z.strictObject({
  source: text.min(1).describe('The name of a source, or of a consumer such as `stripe/mail`'),
  type: text.min(1).optional().describe('A type, or a glob such as `invoice.*`; left out: all events'),
  ...noteFields,
})

const destinationShape = z.strictObject({
  name: text,
  origin: text,
  sources: z.array(text),
  types: z.array(text),
  paused: z.boolean(),
  pauseReason: text.nullable(),
  pausedBy: text.nullable().describe('Who paused it, in all processes'),
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
      async run({ access }) {
        await inbox.paused.refreshOld()
        return {
          process: inbox.history.id,
          startedAt: inbox.setup.startedAt,
          handlers: inbox
            .handlers()
            .map((handler) => handlerView(inbox, handler, seesDetail(access)))
            .sort((a, b) => (`${a.source} ${a.pattern}` < `${b.source} ${b.pattern}` ? -1 : 1)),
        }
      },
    }),
    route({
      method: 'GET',
      path: '/api/pauses',
      id: 'listPauses',
      summary: 'What is paused in the log, by whom and since when',
      can: 'read',
      answers: { 200: json('By source and type.', pausesShape) },
      run: ({ access }) => pausesView(inbox, seesDetail(access)),
    }),
    ...(['pause', 'resume'] as const).map((verb) =>
      route({
        method: 'POST',
        path: `/api/${verb}`,
        id: verb,
        summary: `${verb === 'pause' ? 'Pause' : 'Resume'} a source, a consumer, or its events of a type, in all processes of the log`,
        can: 'act',
        body: pauseBody,
        answers: { 200: json('What is paused now.', pauseChangeShape) },
        async run({ access, body: { source, type, note = '' } }) {
          const changed = await inbox[verb](source, type, { actor: access!.actor, note })
          return { changed, ...(await pausesView(inbox, true)) }
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
        summary: `${verb === 'pause' ? 'Pause' : 'Resume'} a destination, in all processes of the log`,
        can: 'act',
        params: { name: text.min(1).describe('The name of the destination') },
        body: z.strictObject(noteFields),
        answers: { 200: json('Its state.', destinationShape) },
        async run({ access, params: { name }, body }) {
          const destinations = destinationsOf(inbox)
          if (destinations === null) throw invalid(`The destination "${name}"`, 'does not exist')
          await destinations[verb](name, { actor: access!.actor, note: body.note ?? '' })
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

async function pausesView(inbox: WholeInbox, detail: boolean) {
  return { pauses: (await inbox.pauses()).map((pause) => pauseView(pause, detail)) }
}

function handlerView(inbox: WholeInbox, handler: HandlerState, detail: boolean) {
  const { source, pattern, batch, pause, active, options, retry, counters } = handler
  const { succeeded, ignored, failed, lost, postponed } = counters.attempts
  const forwards = destinationStates(inbox).some(
    ({ sources, types }) => sources.includes(source) && types.includes(pattern),
  )
  return {
    source,
    pattern,
    kind: forwards ? 'destination' : batch ? 'batch' : 'one',
    pause: pause && pauseView(pause, detail),
    active,
    limit: limitOf(options.limit),
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

function limitOf(limit: HandlerLimit | undefined) {
  if (!limit) return null
  return { concurrency: limit.concurrency ?? null, perSecond: limit.perSecond ?? null, by: limit.by ?? null }
}

async function destinationViews(inbox: WholeInbox, detail: boolean) {
  await inbox.paused.refreshOld()
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
  const processes = seen.map(({ id, version, node, host, pid, worker, startedAt, seenAt }) => ({
    ...{ id, version, node, host, pid, worker, startedAt, seenAt },
    alive: id === inbox.history.id || now - seenAt < ALIVE_MS,
  }))
  return {
    workers: leases.map((lease) => ({
      ...lease,
      process: processes.find(({ worker }) => worker === lease.worker) ?? null,
    })),
    processes,
  }
}
