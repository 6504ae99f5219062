/**
 * Finds what needs a person: each item says what was found, what to do, and where the events are. It reads counters and
 * small indexes only. The inspection of the store reads thousands of rows, so its report is reused for a minute.
 */
import { ageText } from '../../duration.js'
import { destinationStates } from '../../forward/destinations.js'
import type { WholeInbox } from '../../inbox/internals.js'
import type { EventFilter } from '../../model.js'
import { rejectReasons } from '../../provider.js'
import { pauseName } from '../../store/pauses.js'
import type { Inspection } from '../../store.js'
import { inspectOf } from './capabilities.js'
import { errorGroups, filterOfGroup } from './dead-letters.js'
import { countsOf, latencyOf, readWindow, type WindowReport } from './overview.js'

export const severities = ['critical', 'warning', 'info'] as const
export const screens = [
  'events',
  'dead',
  'review',
  'sources',
  'handlers',
  'destinations',
  'workers',
  'system',
] as const

export interface Item {
  readonly id: string
  readonly kind: string
  readonly severity: (typeof severities)[number]
  readonly title: string
  readonly text: string
  readonly todo: string
  readonly count: number | null
  readonly source: string | null
  readonly lastAt: number | null
  readonly screen: (typeof screens)[number]
  readonly filter: Record<string, string> | null
}

const STUCK_MS = 5 * 60_000
const SLOW_MS = 10_000
const PARTITIONS_AHEAD = 2
const SHOWN_GROUPS = 5
/** Contents counted at most of each source. */
const CONFLICTS = 1_000
const INSPECTED_FOR_MS = 60_000

export interface Inspected extends Inspection {
  /** The clock of the store minus the clock of this process. */
  readonly skewMs: number
}

export interface Attention {
  items(detail: boolean): Promise<Item[]>
  /** At most a minute old; null when it failed. */
  inspection(): Promise<Inspected | null>
}

export function createAttention(inbox: WholeInbox): Attention {
  let inspected: { at: number; report: Promise<Inspected | null> } | null = null

  async function inspect(): Promise<Inspected> {
    const found = await inspectOf(inbox)
    const askedAt = Date.now()
    const report = await found.report()
    return { ...report, skewMs: Math.round(report.now - (askedAt + Date.now()) / 2) }
  }

  function inspection(): Promise<Inspected | null> {
    if (inspected === null || performance.now() - inspected.at > INSPECTED_FOR_MS)
      inspected = { at: performance.now(), report: inspect().catch(() => null) }
    return inspected.report
  }

  return {
    inspection,
    async items(detail) {
      const day = await readWindow(inbox, '24h')
      await inbox.paused.refreshOld()
      const found = await Promise.all([
        deadLetters(inbox, detail),
        ofWindow(inbox, day),
        alarms(inbox),
        openConflicts(inbox),
        stuck(inbox),
        review(inbox),
        spool(inbox),
        inspection().then(ofStore),
      ])
      const items = [...found.flat(), ...ofProcess(inbox)]
      return items.sort((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity))
    },
  }
}

const kinds = {
  dead_letters: { severity: 'critical', todo: 'Correct the cause, then retry these events.' },
  alarm: { severity: 'critical', screen: 'sources' },
  rejected_signatures: { screen: 'sources' },
  conflicts: {
    todo: 'Compare the two contents on the page of the event. Then run the other content, or keep the first.',
  },
  slow_handler: {
    todo: 'Look at the durations of its handlers. A longer task belongs into a queue of its own.',
    screen: 'handlers',
  },
  stuck: {
    severity: 'critical',
    todo: 'Check that a process with handlers for them runs, and that none of them is paused.',
    screen: 'workers',
  },
  unhandled: {
    title: 'Events have no handler',
    todo: 'Add a handler and retry them, or stop these types at the provider.',
    screen: 'review',
    filter: { state: 'ignored', reason: 'unhandled' },
  },
  flagged: {
    severity: 'info',
    title: 'Events repeat the signed content of others',
    text: 'The sender does not sign the id, so it may be the same event under another id.',
    todo: 'Compare them with the event that they equal.',
    screen: 'review',
    filter: { flagged: 'true' },
  },
  spool: { severity: 'critical', screen: 'system' },
  store: { severity: 'critical', screen: 'system' },
  schema: { screen: 'system' },
  partitions: {
    severity: 'critical',
    todo: 'Run hookonce prune: it creates partitions ahead.',
    screen: 'system',
  },
  paused: { todo: 'Resume it when its cause is corrected. Its events wait.', screen: 'sources' },
  destination: {
    severity: 'critical',
    todo: 'Check the endpoint, then resume it. Its events wait.',
    screen: 'destinations',
  },
  unverified: {
    severity: 'info',
    text: 'Anyone who can reach its URL can record events.',
    todo: 'Use a provider with a secret, or keep the URL inside your network.',
    screen: 'sources',
  },
  secret: {
    severity: 'info',
    text: 'Since this process started, all deliveries matched another secret.',
    todo: 'When the rotation is finished, remove the old secret.',
    screen: 'sources',
  },
  retention: {
    todo: 'See the log of the server. Old payloads are kept until a run succeeds.',
    screen: 'system',
  },
} as const satisfies Readonly<Record<string, Partial<Item>>>

/** `about` distinguishes items of one kind. */
function item(kind: keyof typeof kinds, about: string, fields: Partial<Omit<Item, 'kind' | 'id'>>): Item {
  return {
    id: about === '' ? kind : `${kind}:${about}`,
    kind,
    severity: 'warning',
    title: '',
    text: '',
    todo: '',
    count: null,
    source: null,
    lastAt: null,
    screen: 'events',
    filter: null,
    ...kinds[kind],
    ...fields,
  }
}

function when(found: boolean, ...about: Parameters<typeof item>): Item[] {
  return found ? [item(...about)] : []
}

async function deadLetters(inbox: WholeInbox, detail: boolean): Promise<Item[]> {
  const { groups } = await errorGroups(await inspectOf(inbox))
  return groups.slice(0, SHOWN_GROUPS).map((group) => {
    const { source, error, count, lastAt, pattern } = group
    return item('dead_letters', `${source}:${detail ? pattern : ''}${group.eventId}`, {
      title: `${count} dead ${count === 1 ? 'letter' : 'letters'} of ${source}`,
      text: detail && error ? error.split('\n', 1)[0]!.slice(0, 300) : 'Their attempts are used up.',
      count,
      source,
      lastAt,
      filter: filterOfGroup(group, detail),
    })
  })
}

const signatureReasons: readonly string[] = rejectReasons
const adviceByReason: Readonly<Record<string, string>> = {
  bad_signature:
    'Compare the secret of the source with that of the provider. A proxy that changes the body has the same effect.',
  missing_signature:
    'Deliveries without a signature come from somebody else, or signing is off at the provider.',
  stale_timestamp:
    'Check the clock of this server. Old deliveries may be sent again by somebody who recorded them.',
  future_timestamp: 'Check the clock of this server.',
  key_unavailable: 'The public keys of the provider could not be fetched. Check the network of this server.',
}

export function adviceFor(reason: string): string {
  return (
    adviceByReason[reason] ??
    'See the log of the server for this reason, and compare with the documentation of the provider.'
  )
}

function ofWindow(inbox: WholeInbox, { sources }: WindowReport): Item[] {
  return [...sources].flatMap(([source, own]) => {
    const { recorded } = countsOf(own)
    const rejected = Object.entries(own.rejected)
      .filter(([reason]) => signatureReasons.includes(reason))
      .sort((a, b) => b[1] - a[1])
    const total = rejected.reduce((sum, [, count]) => sum + count, 0)
    const p95Ms = latencyOf(own.handle).p95Ms ?? 0
    return [
      ...when(total > 0 && inbox.sources.has(source), 'rejected_signatures', source, {
        severity: total > recorded ? 'critical' : 'warning',
        title: `${deliveries(total)} of ${source} ${total === 1 ? 'was' : 'were'} rejected in 24 hours`,
        text: rejected.map(([reason, count]) => `${reason.replaceAll('_', ' ')}: ${count}`).join(', '),
        todo: adviceFor(rejected[0]?.[0] ?? ''),
        count: total,
        source,
      }),
      ...when(p95Ms >= SLOW_MS, 'slow_handler', source, {
        title: `Handlers of ${source} are slow`,
        text: `One in twenty attempts took longer than ${ageText(p95Ms)} in 24 hours.`,
        source,
      }),
    ]
  })
}

const alarmTitles = {
  silent: (source: string) => `${source} is silent`,
  rejected: (source: string) => `Deliveries of ${source} are rejected`,
  stopped: (source: string) => `A type of ${source} has stopped`,
}

async function alarms(inbox: WholeInbox): Promise<Item[]> {
  const health = await inbox.health().catch(() => null)
  return (health ?? []).flatMap(({ source, alarms }) =>
    alarms.map(({ id, kind, text, todo, since }) =>
      item('alarm', id, {
        severity: kind === 'stopped' ? 'warning' : 'critical',
        title: alarmTitles[kind](source),
        text,
        todo,
        source,
        lastAt: since,
      }),
    ),
  )
}

async function openConflicts(inbox: WholeInbox): Promise<Item[]> {
  const found = await (await inspectOf(inbox)).openConflicts(CONFLICTS)
  return found.map(({ source, count, cut, oldestAt }) =>
    item('conflicts', source, {
      title: `${count}${cut ? ' or more' : ''} ${count === 1 ? 'event' : 'events'} of ${source} came again with other content`,
      text: `The first content was kept and handled. The oldest has waited for a decision for ${ageText(Date.now() - oldestAt)}.`,
      count,
      source,
      lastAt: oldestAt,
      filter: { source, hasConflict: 'true' },
    }),
  )
}

async function stuck(inbox: WholeInbox): Promise<Item[]> {
  const stats = await inbox.events.stats()
  const now = Date.now()
  return stats.flatMap(({ source, oldestDueAt }) => {
    // A pause has an item of its own.
    const ageMs = inbox.paused.ofSource(source) ? 0 : now - (oldestDueAt ?? now)
    return when(ageMs >= STUCK_MS, 'stuck', source, {
      title: `Events of ${source} wait for a worker`,
      text: `The oldest has been due for ${ageText(ageMs)}.`,
      source,
      lastAt: oldestDueAt,
      filter: { source, state: 'pending' },
    })
  })
}

async function review(inbox: WholeInbox): Promise<Item[]> {
  const newest = async (filter: EventFilter) => (await inbox.events.list(filter, { limit: 1 })).events[0]
  const [unhandled, flagged] = await Promise.all([
    newest({ state: 'ignored', reason: 'unhandled' }),
    newest({ flagged: true }),
  ])
  return [
    ...when(unhandled !== undefined, 'unhandled', '', {
      text: `The newest is of the type ${unhandled?.type}.`,
      lastAt: unhandled?.receivedAt ?? null,
    }),
    ...when(flagged !== undefined, 'flagged', '', { lastAt: flagged?.receivedAt ?? null }),
  ]
}

async function spool(inbox: WholeInbox): Promise<Item[]> {
  if (inbox.spool === null) return []
  const { depth, setAside, storeAway, oldestAt } = await inbox.spool.status()
  return [
    ...when(depth > 0 || storeAway, 'spool', '', {
      severity: storeAway ? 'critical' : 'warning',
      title: storeAway ? 'The store is unavailable: deliveries are spooled' : 'The spool is being recorded',
      text: `${deliveries(depth)} ${depth === 1 ? 'waits' : 'wait'} in the local file.`,
      todo: 'Bring the store back. The deliveries are recorded by themselves.',
      count: depth,
      lastAt: oldestAt,
    }),
    ...when(setAside > 0, 'spool', 'set-aside', {
      title: `${deliveries(setAside)} of the spool could not be recorded`,
      todo: 'Fix the problem that the log of the server names. The deliveries are kept and retried.',
      count: setAside,
    }),
  ]
}

function ofStore(report: Inspection | null): Item[] {
  if (report === null)
    return [
      item('store', '', {
        title: 'The store cannot be examined',
        todo: 'Run hookonce doctor on the server.',
      }),
    ]
  const { schema, settings, invariants, partitionsAhead } = report
  const wrong = [...settings, ...invariants].filter(({ ok }) => !ok)
  return [
    ...when(schema.found !== schema.known, 'schema', '', {
      title: `The schema of the log is ${schema.found}, this version knows ${schema.known}`,
      todo: schema.found < schema.known ? 'Run hookonce migrate up.' : 'Upgrade this process.',
    }),
    ...when((partitionsAhead ?? PARTITIONS_AHEAD) < PARTITIONS_AHEAD, 'partitions', '', {
      title: `Payload partitions ready ahead: ${partitionsAhead}`,
      count: partitionsAhead,
    }),
    ...wrong.map(({ name, value, fix }) =>
      item('store', name, { title: `${name}: ${value}`, todo: fix ?? '' }),
    ),
  ]
}

function ofProcess(inbox: WholeInbox): Item[] {
  const { failures } = inbox.counters.retention
  return [
    ...inbox.paused.list.map((pause) =>
      item('paused', `${pause.source}:${pause.type ?? '*'}`, {
        title: `${pauseName(pause)} is paused, by ${pause.actor}`,
        source: pause.source,
        lastAt: pause.at,
      }),
    ),
    ...destinationStates(inbox).flatMap(({ name, paused, pauseReason, pausedAt }) =>
      // One that an operator paused is among the pauses above.
      when(paused && pauseReason !== 'operator', 'destination', name, {
        title: `The destination ${name} is paused`,
        text: `Reason: ${pauseReason}.`,
        lastAt: pausedAt,
      }),
    ),
    ...[...inbox.sources].flatMap(([source, { secretHits, unverified }]) => [
      ...when(unverified, 'unverified', source, { title: `The source ${source} is not verified`, source }),
      ...when(secretHits.some((n) => n > 0) && secretHits.includes(0), 'secret', source, {
        title: `A secret of ${source} matches no delivery`,
        source,
      }),
    ]),
    ...when(failures > 0, 'retention', '', {
      title: `${failures} ${failures === 1 ? 'run' : 'runs'} of retention failed`,
    }),
  ]
}

function deliveries(count: number): string {
  return `${count} ${count === 1 ? 'delivery' : 'deliveries'}`
}
