/**
 * What needs a person: each entry says what was found, what to do, and where the events are. Everything is read from
 * counters and small indexes. The inspection of the store reads thousands of rows, so it is kept for a minute.
 */
import { ageText } from '../../duration.js'
import { destinationStates } from '../../forward/destinations.js'
import type { WholeInbox } from '../../inbox/internals.js'
import { rejectReasons } from '../../provider.js'
import { type Finding, type Inspection, need } from '../../store.js'
import { errorGroups, filterOfGroup } from './dead-letters.js'
import { countsOf, latencyOf, readWindow, type WindowReport } from './overview.js'
import { instant } from './views.js'

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
  readonly lastAt: string | null
  readonly screen: (typeof screens)[number]
  readonly filter: Record<string, string> | null
}

const STUCK_MS = 5 * 60_000
const SLOW_MS = 10_000
const PARTITIONS_AHEAD = 2
const SHOWN_GROUPS = 5
const INSPECTED_FOR_MS = 60_000

export interface Inspected extends Inspection {
  /** How far the clock of the store is ahead of this process. */
  readonly skewMs: number
}

export interface Attention {
  items(detail: boolean): Promise<Item[]>
  /** The inspection of the store, at most a minute old; null when it failed. */
  inspection(): Promise<Inspected | null>
}

export function createAttention(inbox: WholeInbox): Attention {
  let inspected: { at: number; report: Promise<Inspected | null> } | null = null

  async function inspect(): Promise<Inspected> {
    const store = await inbox.store()
    const askedAt = Date.now()
    const report = await need(store, 'inspect', 'the admin API').report()
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
      const found = await Promise.all([
        deadLetters(inbox, detail),
        ofWindow(inbox, day),
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

function item(
  kind: string,
  about: string,
  fields: Omit<Partial<Item>, 'kind' | 'id'> & { title: string },
): Item {
  return {
    id: about === '' ? kind : `${kind}:${about}`,
    kind,
    severity: 'warning',
    text: '',
    todo: '',
    count: null,
    source: null,
    lastAt: null,
    screen: 'events',
    filter: null,
    ...fields,
  }
}

async function deadLetters(inbox: WholeInbox, detail: boolean): Promise<Item[]> {
  const { groups } = await errorGroups(inbox)
  return groups.slice(0, SHOWN_GROUPS).map((group) => {
    const { source, error, count, lastAt, pattern } = group
    return item('dead_letters', `${source}:${detail ? pattern : ''}${group.eventId}`, {
      severity: 'critical',
      title: `${count} dead ${count === 1 ? 'letter' : 'letters'} of ${source}`,
      text: detail && error ? error.split('\n', 1)[0]!.slice(0, 300) : 'Their attempts are used up.',
      todo: 'Correct the cause, then retry these events.',
      count,
      source,
      lastAt: instant(lastAt),
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
    const counts = countsOf(own)
    const rejected = Object.entries(own.rejected)
      .filter(([reason]) => signatureReasons.includes(reason))
      .sort((a, b) => b[1] - a[1])
    const items: Item[] = []
    const total = rejected.reduce((sum, [, count]) => sum + count, 0)
    if (total > 0 && inbox.sources.has(source))
      items.push(
        item('rejected_signatures', source, {
          severity: total > counts.recorded ? 'critical' : 'warning',
          title: `${deliveries(total)} of ${source} ${total === 1 ? 'was' : 'were'} rejected in 24 hours`,
          text: rejected.map(([reason, count]) => `${reason.replaceAll('_', ' ')}: ${count}`).join(', '),
          todo: adviceFor(rejected[0]![0]),
          count: total,
          source,
          screen: 'sources',
        }),
      )
    if (counts.conflicts > 0)
      items.push(
        item('conflicts', source, {
          title: `${deliveries(counts.conflicts)} of ${source} ${counts.conflicts === 1 ? 'differs' : 'differ'} from the first with the same id`,
          text: 'The first content was kept and handled.',
          todo: 'Compare the two contents on the page of the event. If the second is right, run it: hookonce replay <id> --conflict --force.',
          count: counts.conflicts,
          source,
          filter: { source, hasConflict: 'true' },
        }),
      )
    const { p95Ms } = latencyOf(own.handle)
    if (p95Ms !== null && p95Ms >= SLOW_MS)
      items.push(
        item('slow_handler', source, {
          title: `Handlers of ${source} are slow`,
          text: `One in twenty attempts took longer than ${ageText(p95Ms)} in 24 hours.`,
          todo: 'Look at the durations of its handlers. A longer task belongs into a queue of its own.',
          source,
          screen: 'handlers',
        }),
      )
    return items
  })
}

async function stuck(inbox: WholeInbox): Promise<Item[]> {
  const stats = await inbox.events.stats()
  const now = Date.now()
  return stats.flatMap(({ source, oldestDueAt }) => {
    const ageMs = oldestDueAt === null ? 0 : now - oldestDueAt
    if (ageMs < STUCK_MS) return []
    return [
      item('stuck', source, {
        severity: 'critical',
        title: `Events of ${source} wait for a worker`,
        text: `The oldest has been due for ${ageText(ageMs)}.`,
        todo: 'Check that a process with handlers for them runs, and that none of them is paused.',
        source,
        lastAt: instant(oldestDueAt),
        screen: 'workers',
        filter: { source, state: 'pending' },
      }),
    ]
  })
}

async function review(inbox: WholeInbox): Promise<Item[]> {
  const [unhandled, flagged] = await Promise.all([
    inbox.events.list({ state: 'ignored', reason: 'unhandled' }, { limit: 1 }),
    inbox.events.list({ flagged: true }, { limit: 1 }),
  ])
  const items: Item[] = []
  if (unhandled.events.length > 0)
    items.push(
      item('unhandled', '', {
        title: 'Events have no handler',
        text: `The newest is of the type ${unhandled.events[0]!.type}.`,
        todo: 'Add a handler and retry them, or stop these types at the provider.',
        lastAt: instant(unhandled.events[0]!.receivedAt),
        screen: 'review',
        filter: { state: 'ignored', reason: 'unhandled' },
      }),
    )
  if (flagged.events.length > 0)
    items.push(
      item('flagged', '', {
        severity: 'info',
        title: 'Events repeat the signed content of others',
        text: 'The sender does not sign the id, so it may be the same event under another id.',
        todo: 'Compare them with the event that they equal.',
        lastAt: instant(flagged.events[0]!.receivedAt),
        screen: 'review',
        filter: { flagged: 'true' },
      }),
    )
  return items
}

async function spool(inbox: WholeInbox): Promise<Item[]> {
  if (inbox.spool === null) return []
  const { depth, setAside, storeAway, oldestAt } = await inbox.spool.status()
  const items: Item[] = []
  if (depth > 0 || storeAway)
    items.push(
      item('spool', '', {
        severity: storeAway ? 'critical' : 'warning',
        title: storeAway ? 'The store is unavailable: deliveries are spooled' : 'The spool is being recorded',
        text: `${deliveries(depth)} ${depth === 1 ? 'waits' : 'wait'} in the local file.`,
        todo: 'Bring the store back. The deliveries are recorded by themselves.',
        count: depth,
        lastAt: instant(oldestAt),
        screen: 'system',
      }),
    )
  if (setAside > 0)
    items.push(
      item('spool', 'set-aside', {
        severity: 'critical',
        title: `${deliveries(setAside)} of the spool could not be recorded`,
        todo: 'Fix the problem that the log of the server names. The deliveries are kept and retried.',
        count: setAside,
        screen: 'system',
      }),
    )
  return items
}

function ofStore(report: Inspection | null): Item[] {
  const at = { screen: 'system' } as const
  if (report === null)
    return [
      item('store', '', {
        ...at,
        severity: 'critical',
        title: 'The store cannot be examined',
        todo: 'Run hookonce doctor on the server.',
      }),
    ]
  const { schema, settings, invariants, partitionsAhead } = report
  const wrong = [...settings, ...invariants].filter(({ ok }) => !ok)
  return [
    ...(schema.found === schema.known
      ? []
      : [
          item('schema', '', {
            ...at,
            title: `The schema of the log is ${schema.found}, this version knows ${schema.known}`,
            todo: schema.found < schema.known ? 'Run hookonce migrate up.' : 'Upgrade this process.',
          }),
        ]),
    ...(partitionsAhead === null || partitionsAhead >= PARTITIONS_AHEAD
      ? []
      : [
          item('partitions', '', {
            ...at,
            severity: 'critical',
            title: `Payload partitions ready ahead: ${partitionsAhead}`,
            todo: 'Run hookonce prune: it creates partitions ahead.',
            count: partitionsAhead,
          }),
        ]),
    ...wrong.map((finding) => ofFinding(finding)),
  ]
}

function ofFinding({ name, value, fix }: Finding): Item {
  return item('store', name, {
    severity: 'critical',
    title: `${name}: ${value}`,
    todo: fix ?? '',
    screen: 'system',
  })
}

/** What only this process knows: pauses, destinations, secrets. */
function ofProcess(inbox: WholeInbox): Item[] {
  const paused = inbox.handlers().filter((handler) => handler.paused || handler.sourcePaused)
  const destinations = destinationStates(inbox).filter((state) => state.paused)
  const { retention } = inbox.counters
  return [
    ...paused.map(({ source, pattern }) =>
      item('paused', `${source}:${pattern}`, {
        title: `The handler ${pattern} of ${source} is paused`,
        todo: 'Resume it when its cause is corrected. Its events wait.',
        source,
        screen: 'handlers',
      }),
    ),
    ...destinations.map(({ name, pauseReason, pausedAt }) =>
      item('destination', name, {
        severity: 'critical',
        title: `The destination ${name} is paused`,
        text: pauseReason === 'operator' ? 'An operator paused it.' : `Reason: ${pauseReason}.`,
        todo: 'Check the endpoint, then resume it. Its events wait.',
        lastAt: instant(pausedAt),
        screen: 'destinations',
      }),
    ),
    ...[...inbox.sources].flatMap(([name, { secretHits, unverified }]) => {
      const unused = secretHits.length > 1 && secretHits.some((n) => n > 0) && secretHits.some((n) => n === 0)
      return [
        ...(unverified
          ? [
              item('unverified', name, {
                severity: 'info',
                title: `The source ${name} is not verified`,
                text: 'Anyone who can reach its URL can record events.',
                todo: 'Use a provider with a secret, or keep the URL inside your network.',
                source: name,
                screen: 'sources',
              }),
            ]
          : []),
        ...(unused
          ? [
              item('secret', name, {
                severity: 'info',
                title: `A secret of ${name} matches no delivery`,
                text: 'Since this process started, all deliveries matched another secret.',
                todo: 'When the rotation is finished, remove the old secret.',
                source: name,
                screen: 'sources',
              }),
            ]
          : []),
      ]
    }),
    ...(retention.failures > 0
      ? [
          item('retention', '', {
            title: `${retention.failures} ${retention.failures === 1 ? 'run' : 'runs'} of retention failed`,
            todo: 'See the log of the server. Old payloads are kept until a run succeeds.',
            screen: 'system',
          }),
        ]
      : []),
  ]
}

function deliveries(count: number): string {
  return `${count} ${count === 1 ? 'delivery' : 'deliveries'}`
}
