/** `hookonce doctor`: everything that should be so, looked at, and what to do where it is not. */
import { existsSync, statSync } from 'node:fs'
import type { LoadedConfig } from '../config/load.js'
import { durationText } from '../duration.js'
import type { Finding } from '../model.js'
import type { Source } from '../provider.js'
import { DEFAULT_SPOOL_BYTES, type SpoolOptions } from '../spool/spool.js'
import type { Store } from '../store.js'
import { folder } from './dev/folder.js'
import { textOf } from './failure.js'
import { type Output, plain, table } from './output.js'
import { hasConfig, openExistingStore } from './store.js'

/** Longer than this, and workers are missing or far behind. */
const BACKLOG_MS = 5 * 60_000
/** Signed timestamps are judged within minutes; leases by the store alone. */
const SKEW_MS = 5_000
const FEWEST_PARTITIONS = 2

export async function doctor(output: Output, given: string | undefined): Promise<number> {
  const findings: Finding[] = [nodeVersion()]
  const config = await configuration(findings)
  if (config) findings.push(...(await retention(config)), ...(await spoolState(config)))
  else findings.push(...devSecret())
  await storeFindings(findings, given)
  const problems = findings.filter(({ ok }) => !ok).length
  output.result({ ok: problems === 0, findings }, (paint) => {
    const rows = findings.map(({ name, value, ok }) => [
      ok ? paint('green', 'ok') : paint('red', 'PROBLEM'),
      name,
      plain(value),
    ])
    const fixes = findings.filter(({ ok }) => !ok).map(({ name, fix }) => `${name}: ${plain(fix ?? '')}`)
    return `${table(rows)}${fixes.length > 0 ? `\n\n${paint('bold', 'What to do')}\n  ${fixes.join('\n  ')}` : ''}`
  })
  return problems === 0 ? 0 : 1
}

function nodeVersion(): Finding {
  const major = Number(process.versions.node.split('.')[0])
  return finding('node', process.versions.node, major >= 20, 'Install Node 20 or newer.')
}

/** A configuration that loads has its secrets: a source without one is not made. */
async function configuration(findings: Finding[]): Promise<LoadedConfig | null> {
  if (!hasConfig()) {
    findings.push(finding('configuration', 'none; hookonce dev needs none', true))
    return null
  }
  try {
    const { loadConfig } = await import('../config/load.js')
    const loaded = await loadConfig()
    if (typeof loaded.config.store === 'object') await loaded.config.store.close()
    const sources = Object.entries(loaded.config.sources)
    const open = sources.filter(([, source]) => source.unverified).map(([name]) => name)
    findings.push(
      finding('configuration', loaded.path ?? '', true),
      finding(
        'sources',
        `${sources.length}, each with its secret`,
        sources.length > 0,
        'Add a source: sources: { stripe: stripe({ secret: env("STRIPE_SECRET") }) }.',
      ),
      ...loaded.warnings.map((warning) => finding('secrets', warning, false, 'Move it to the environment.')),
      ...open.map((name) =>
        finding(
          'verification',
          `"${name}" is not verified`,
          false,
          'Anyone can send events to it. Use a provider with a secret.',
        ),
      ),
    )
    return loaded
  } catch (error) {
    findings.push(finding('configuration', 'cannot be used', false, textOf(error)))
    return null
  }
}

function devSecret(): Finding[] {
  const path = `${folder}/secret`
  if (!existsSync(path)) return []
  const mode = statSync(path).mode & 0o777
  const closed = process.platform === 'win32' || (mode & 0o077) === 0
  const value = closed ? 'only its owner can read it' : `others can read it (mode ${mode.toString(8)})`
  return [finding('development secret', value, closed, `chmod 600 ${path}`)]
}

async function retention({ config }: LoadedConfig): Promise<Finding[]> {
  const { retentionPolicy } = await import('../retention/policy.js')
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
    return [finding('retention', 'events are deleted too early', false, textOf(error))]
  }
}

async function spoolState({ config }: LoadedConfig): Promise<Finding[]> {
  const { path, maxBytes = DEFAULT_SPOOL_BYTES } = (config.spool ?? {}) as Partial<SpoolOptions>
  if (path === undefined) return []
  if (!existsSync(path)) return [finding('spool', 'empty', true)]
  const { openSpoolFile } = await import('../spool/spool-file.js')
  try {
    const file = openSpoolFile({ path, maxBytes: 0 })
    const { depth, bytes, refused } = file.totals()
    file.close()
    const fix =
      'A server with this spool records them when it can reach the store. Check that one is running.'
    const used = `${depth} ${depth === 1 ? 'delivery waits' : 'deliveries wait'}, ${bytes} of ${maxBytes} bytes used`
    return [
      finding('spool', used, depth === 0, fix),
      finding(
        'spool, refused',
        `${refused} ${refused === 1 ? 'delivery' : 'deliveries'} refused by the store`,
        refused === 0,
        'Fix the problem that the log reports for them, then call inbox.spool.retryRefused().',
      ),
    ]
  } catch (error) {
    return [finding('spool', 'cannot be opened', false, textOf(error))]
  }
}

async function storeFindings(findings: Finding[], given: string | undefined): Promise<void> {
  let store: Store
  try {
    store = await openExistingStore(given)
  } catch (error) {
    findings.push(finding('store', 'cannot be opened', false, textOf(error)))
    return
  }
  try {
    const askedAt = Date.now()
    const { schema, now, settings, invariants, partitionsAhead } = await store.inspect()
    const skewMs = Math.abs(now - (askedAt + Date.now()) / 2)
    findings.push(
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
        skewMs < SKEW_MS,
        "Synchronise this machine's clock (NTP). A SQLite log whose clock is ahead corrects itself.",
      ),
      ...settings,
      ...invariants,
    )
    if (partitionsAhead !== null)
      findings.push(
        finding(
          'partitions ahead',
          String(partitionsAhead),
          partitionsAhead >= FEWEST_PARTITIONS,
          'Run hookonce prune: it creates partitions ahead.',
        ),
      )
    if (schema.found === schema.known) findings.push(...(await backlog(store, now)))
  } catch (error) {
    findings.push(finding('store', `${store.name} cannot be read`, false, textOf(error)))
  } finally {
    await store.close()
  }
}

async function backlog(store: Store, now: number): Promise<Finding[]> {
  const stats = await store.stats()
  const due = stats.flatMap(({ oldestDueAt }) => (oldestDueAt === null ? [] : [oldestDueAt]))
  const ageMs = due.length === 0 ? 0 : Math.max(0, now - Math.min(...due))
  const dead = stats.reduce((sum, one) => sum + one.dead, 0)
  const fix =
    'No worker handles these events, or not fast enough. Check that hookonce serve or worker runs with handlers for them.'
  return [
    finding(
      'backlog',
      ageMs === 0 ? 'no event waits' : `the oldest has waited ${durationText(ageMs)}`,
      ageMs < BACKLOG_MS,
      fix,
    ),
    finding('dead letters', dead === 0 ? 'none' : `${dead}; hookonce events list --dead`, true),
  ]
}

function finding(name: string, value: string, ok: boolean, fix = ''): Finding {
  return { name, value, ok, fix: ok ? null : fix }
}
