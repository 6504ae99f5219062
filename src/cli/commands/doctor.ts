import { existsSync, statSync } from 'node:fs'
import type { Command } from 'commander'
import { type LoadedConfig, loadConfig } from '../../config/load.js'
import { ageText, durationText } from '../../duration.js'
import { followedSource } from '../../model.js'
import { DEFAULT_CONCURRENCY, type ProcessingOptions } from '../../processing/options.js'
import { type Waiting, waitingOf } from '../../processing/waiting.js'
import type { Source } from '../../provider.js'
import { retentionPolicy } from '../../retention/policy.js'
import { withInstants } from '../../server/admin/views.js'
import type { WatchedSource } from '../../silence/alarm.js'
import { healthReader } from '../../silence/health.js'
import { DEFAULT_SPOOL_BYTES, type SpoolOptions } from '../../spool/spool.js'
import { SpoolFile } from '../../spool/spool-file.js'
import { pauseName } from '../../store/pauses.js'
import { type Finding, need, type Store } from '../../store.js'
import { addCommand } from '../command.js'
import { folder } from '../dev/folder.js'
import { firstSentence } from '../failure.js'
import { storeOption } from '../log/options.js'
import { counted, type Output, table } from '../output.js'
import { hasConfig, openExistingStore } from '../store.js'
import { printable } from '../terminal-text.js'
import { waitingText } from '../waiting-text.js'

export function add(program: Command): void {
  addCommand(program, 'doctor', {
    description:
      'Checks Node, the configuration and its secrets, the store, its settings, schema and clock, retention, the backlog, and the consistency of the log. Prints a fix for each problem. Exit code 1 when there is a problem.',
    examples: ['hookonce doctor', 'hookonce doctor --store postgres://localhost/shop --json'],
    options: storeOption,
    run: async ({ output, options }) => report(output, await examineInstallation(options.store)),
  })
}

function report(output: Output, findings: readonly Finding[]): number {
  const problems = findings.filter(({ ok }) => !ok)
  output.result({ ok: problems.length === 0, findings }, (paint) => {
    const rows = findings.map(({ name, value, ok }) => [
      ok ? paint('green', 'ok') : paint('red', 'PROBLEM'),
      name,
      printable(value),
    ])
    const fixes = problems.map(({ name, fix }) => `${name}: ${printable(fix ?? '')}`)
    return `${table(rows)}${fixes.length > 0 ? `\n\n${paint('bold', 'What to do')}\n  ${fixes.join('\n  ')}` : ''}`
  })
  return problems.length === 0 ? 0 : 1
}

/** An event that waits longer, and not for its next attempt, needs somebody. */
const BACKLOG_MS = 5 * 60_000
/** No process runs handlers. One that starts now takes a few seconds. */
const NOBODY_MS = 10_000
/** Of so many unfinished events the reasons are read, the oldest first. */
const OLDEST = 100
const REASONS = 3
/** Tolerances of signed times are minutes. Leases use the clock of the store only. */
const MAX_SKEW_MS = 5_000
const MIN_PARTITIONS_AHEAD = 2
/** Few handlers have a longer time limit; most that take longer hang. */
const LONG_ATTEMPT_MS = 5 * 60_000
/** Other contents counted at most of each source. */
const CONFLICTS = 1_000

async function examineInstallation(storeUrl: string | undefined): Promise<readonly Finding[]> {
  const { findings, config } = await configuration(storeUrl)
  const local = config ? [...(await retention(config)), ...(await spoolState(config))] : devSecret()
  return [nodeVersion(), ...findings, ...local, ...(await storeFindings(storeUrl, config))]
}

function nodeVersion(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const isSupported = (major === 20 && minor >= 19) || (major === 22 && minor >= 13) || major >= 24
  return finding('node', process.versions.node, isSupported, 'Install Node 20.19, 22.13, 24 or newer.')
}

interface ConfigFindings {
  readonly findings: readonly Finding[]
  readonly config: LoadedConfig | null
}

/** Loading checks the secrets too: a source without its secret is an error. */
async function configuration(storeUrl: string | undefined): Promise<ConfigFindings> {
  if (!hasConfig())
    return { findings: [finding('configuration', 'none; hookonce dev needs none', true)], config: null }
  if (storeUrl !== undefined)
    return { findings: [finding('configuration', 'not read, because of --store', true)], config: null }
  try {
    const loaded = await loadConfig()
    if (typeof loaded.config.store === 'object') await loaded.config.store.close()
    const sources = Object.entries(loaded.config.sources)
    const unverified = sources.filter(([, source]) => source.unverified).map(([name]) => name)
    const findings = [
      finding('configuration', loaded.path, true),
      finding(
        'sources',
        `${sources.length}, each with its secret`,
        sources.length > 0,
        'Add a source: sources: { stripe: stripe({ secret: env("STRIPE_SECRET") }) }.',
      ),
      ...loaded.warnings.map((warning) => finding('secrets', warning, false, 'Move it to the environment.')),
      ...unverified.map((name) =>
        finding(
          'verification',
          `"${name}" is not verified`,
          false,
          'Anyone can send events to it. Use a provider with a secret.',
        ),
      ),
    ]
    return { findings, config: loaded }
  } catch (error) {
    const problem = finding('configuration', 'cannot be used', false, firstSentence(error))
    return { findings: [problem], config: null }
  }
}

function devSecret(): Finding[] {
  const path = `${folder}/secret`
  if (!existsSync(path)) return []
  const mode = statSync(path).mode & 0o777
  const isPrivate = process.platform === 'win32' || (mode & 0o077) === 0
  const value = isPrivate ? 'only its owner can read it' : `others can read it (mode ${mode.toString(8)})`
  return [finding('development secret', value, isPrivate, `chmod 600 ${path}`)]
}

async function retention({ config }: LoadedConfig): Promise<Finding[]> {
  const sources = new Map<string, Source>(Object.entries(config.sources))
  try {
    const policy = retentionPolicy((config.retention || {}) as object, sources)
    const shortest = Math.min(...[...policy.values()].map(({ events }) => events))
    return sources.size === 0
      ? []
      : [
          finding(
            'retention',
            `event ids are kept for ${durationText(shortest)} or more, longer than every retry window`,
            true,
          ),
        ]
  } catch (error) {
    return [finding('retention', 'events are deleted too early', false, firstSentence(error))]
  }
}

async function spoolState({ config }: LoadedConfig): Promise<Finding[]> {
  const { path, maxBytes = DEFAULT_SPOOL_BYTES } = (config.spool ?? {}) as Partial<SpoolOptions>
  if (path === undefined) return []
  if (!existsSync(path)) return [finding('spool', 'empty', true)]
  try {
    const file = new SpoolFile({ path, maxBytes: 0 })
    const { depth, bytes, setAside } = file.totals()
    const [reason] = file.reasons()
    file.close()
    const fix =
      'A server with this spool records them when it can reach the store. Check that one is running.'
    const used = `${counted(depth, 'delivery waits', 'deliveries wait')}, ${bytes} of ${maxBytes} bytes used`
    return [
      finding('spool', used, depth === 0, fix),
      finding(
        'spool, set aside',
        `${counted(setAside, 'delivery', 'deliveries')} that could not be recorded`,
        setAside === 0,
        `They are kept and retried. Fix the cause: ${reason?.code}, ${reason?.detail}`,
      ),
    ]
  } catch (error) {
    return [finding('spool', 'cannot be opened', false, firstSentence(error))]
  }
}

async function storeFindings(
  storeUrl: string | undefined,
  config: LoadedConfig | null,
): Promise<readonly Finding[]> {
  let store: Store
  try {
    store = await openExistingStore(storeUrl)
  } catch (error) {
    return [finding('store', 'cannot be opened', false, firstSentence(error))]
  }
  try {
    const askedAt = Date.now()
    const { schema, now, settings, invariants, transactions, partitionsAhead } = await need(
      store,
      'inspect',
      'hookonce doctor',
    ).report()
    const skewMs = Math.abs(now - (askedAt + Date.now()) / 2)
    return [
      finding('store', store.name, true),
      finding(
        'schema',
        `${schema.found} of ${schema.known}`,
        schema.found === schema.known || (schema.needed ?? Number.POSITIVE_INFINITY) <= schema.known,
        schema.found < schema.known
          ? 'Run hookonce migrate up.'
          : 'Upgrade hookonce before it touches this log.',
      ),
      finding(
        'clock',
        `${Math.round(skewMs)} ms apart`,
        skewMs < MAX_SKEW_MS,
        "Synchronise this machine's clock (NTP). A SQLite log whose clock is ahead corrects itself.",
      ),
      ...settings,
      ...handlerTransactions(config, transactions),
      ...invariants,
      ...(partitionsAhead === null ? [] : [partitions(partitionsAhead)]),
      ...(schema.found === schema.known
        ? [
            ...(await backlog(store, now)),
            await pauses(store),
            await conflicts(store),
            await attempts(store, now),
            ...(await silence(store, config)),
          ]
        : []),
    ]
  } catch (error) {
    return [finding('store', `${store.name} cannot be read`, false, firstSentence(error))]
  } finally {
    await store.close()
  }
}

function handlerTransactions(loaded: LoadedConfig | null, transactions: number | null): Finding[] {
  const processing = loaded?.config.processing
  if (loaded === null || processing === false || transactions === null) return []
  const { concurrency = DEFAULT_CONCURRENCY } = (processing ?? {}) as ProcessingOptions
  return [
    finding(
      'handler transactions',
      `${transactions} connections for ${concurrency} attempts at once`,
      concurrency <= transactions,
      'Attempts that use ctx.tx wait for a connection. Raise maxTransactions of the store (or the max of its pool), or lower processing.concurrency.',
    ),
  ]
}

function partitions(ahead: number): Finding {
  const fix = 'Run hookonce prune: it creates partitions ahead.'
  return finding('partitions ahead', String(ahead), ahead >= MIN_PARTITIONS_AHEAD, fix)
}

/** An event waits since it was received, whenever it is due. Its reason says whether anybody has to do something. */
async function backlog(store: Store, now: number): Promise<Finding[]> {
  const inspect = need(store, 'inspect', 'hookonce doctor')
  const [stats, oldest] = await Promise.all([store.stats(), inspect.oldest(OLDEST)])
  const unfinished = stats.reduce(
    (sum, { pending, processing, retrying }) => sum + pending + processing + retrying,
    0,
  )
  const dead = stats.reduce((sum, { dead }) => sum + dead, 0)
  const reasons = await waitingOf(store, oldest)
  const waiting = oldest.flatMap(({ receivedAt }, i) => {
    const reason = reasons[i]
    return reason ? [{ ageMs: now - receivedAt, reason }] : []
  })
  const waited = waiting.length === 0 ? '' : `, the oldest for ${ageText(oldestOf(waiting))}`
  const stuck = waiting.filter(isStuck)
  const nobody = stuck.some(({ reason }) => reason.kind === 'no_worker')
  return [
    finding(
      'backlog',
      unfinished === 0
        ? 'no event waits'
        : `${counted(unfinished, 'event is', 'events are')} not finished${waited}${nobody ? ', and none is being handled' : ''}`,
      stuck.length === 0,
      `${reasonsText(stuck, now)}. ${adviceFor(stuck)}`,
    ),
    finding('dead letters', dead === 0 ? 'none' : `${dead}; hookonce events list --dead`, true),
  ]
}

interface WaitingEvent {
  readonly ageMs: number
  readonly reason: Waiting
}

function oldestOf(waiting: readonly WaitingEvent[]): number {
  return Math.max(0, ...waiting.map(({ ageMs }) => ageMs))
}

/** An event that is handled, retried or postponed goes on without anybody. */
function isStuck({ ageMs, reason: { kind } }: WaitingEvent): boolean {
  if (kind === 'running' || kind === 'retry' || kind === 'postponed' || kind === 'review') return false
  return ageMs >= (kind === 'no_worker' ? NOBODY_MS : BACKLOG_MS)
}

function adviceFor(stuck: readonly WaitingEvent[]): string {
  const has = (...kinds: Waiting['kind'][]) => stuck.some(({ reason }) => kinds.includes(reason.kind))
  if (has('no_worker'))
    return 'Call await inbox.start() in the program that registers the handlers, or run hookonce serve or hookonce worker.'
  if (has('places', 'due')) return 'Start another worker, or raise processing.concurrency.'
  return 'hookonce events list shows the reason of each event.'
}

/** The most frequent reasons among the oldest events, each with an example. */
function reasonsText(stuck: readonly WaitingEvent[], now: number): string {
  const texts = new Map<string, number>()
  for (const { reason } of stuck) {
    const text = waitingText(withInstants(reason), now)
    texts.set(text, (texts.get(text) ?? 0) + 1)
  }
  return [...texts]
    .sort(([, a], [, b]) => b - a)
    .slice(0, REASONS)
    .map(([text, count]) => `${counted(count, 'event', 'events')}: ${text}`)
    .join('; ')
}

async function pauses(store: Store): Promise<Finding> {
  const found = await need(store, 'pauses', 'hookonce doctor').list()
  const names = found.map((pause) => `${pauseName(pause)} by ${pause.actor}`)
  return finding(
    'pauses',
    names.length === 0 ? 'none' : `${names.join(', ')}; hookonce resume ends them`,
    true,
  )
}

async function conflicts(store: Store): Promise<Finding> {
  const found = await need(store, 'inspect', 'hookonce doctor').openConflicts(CONFLICTS)
  const count = found.reduce((sum, one) => sum + one.count, 0)
  const more = found.some(({ cut }) => cut) ? ' or more' : ''
  return finding(
    'open conflicts',
    count === 0 ? 'none' : `${count}${more}; hookonce events list --conflicts`,
    true,
  )
}

/** A handler that ignores its time limit keeps the lease of its event for as long again. */
async function attempts(store: Store, now: number): Promise<Finding> {
  const workers = await need(store, 'inspect', 'hookonce doctor').leases()
  let oldestAt = now
  let name = ''
  for (const { worker, oldestClaimedAt } of workers)
    if (oldestClaimedAt !== null && oldestClaimedAt < oldestAt) {
      oldestAt = oldestClaimedAt
      name = worker
    }
  const ageMs = now - oldestAt
  return finding(
    'attempts',
    name === '' ? 'none runs' : `the oldest claim is ${ageText(ageMs)} old, by ${name}`,
    ageMs < LONG_ATTEMPT_MS,
    'Its handler probably hangs. The log of this worker names it: "still runs after its time limit". End the handler when ctx.signal is aborted.',
  )
}

/** Without a configuration: the sources that the log has. */
async function silence(store: Store, loaded: LoadedConfig | null): Promise<Finding[]> {
  const names = (await store.stats())
    .map(({ source }) => source)
    .filter((name) => followedSource(name) === name)
  const sources: [string, WatchedSource][] = loaded
    ? Object.entries(loaded.config.sources)
    : names.map((name) => [name, { name }])
  const health = (await healthReader(store, new Map(sources))?.read()) ?? []
  const alarms = health.flatMap((source) => source.alarms)
  const known = health.filter(({ reportsAt }) => reportsAt !== null).length
  return alarms.length === 0
    ? [
        finding(
          'deliveries',
          `no source is silent; the rhythm of ${known} of ${health.length} is known`,
          true,
        ),
      ]
    : alarms.map(({ text, todo }) => finding('deliveries', text, false, todo))
}

function finding(name: string, value: string, ok: boolean, fix = ''): Finding {
  return { name, value, ok, fix: ok ? null : fix }
}
