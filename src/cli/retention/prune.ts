/** `hookonce prune`: retention, now. */
import { createCounters } from '../../counters.js'
import { jsonLog } from '../../log.js'
import { type RetentionOptions, retentionPolicy } from '../../retention/policy.js'
import { type RetainReport, retain } from '../../retention/retain.js'
import { Failure } from '../failure.js'
import { type Output, type Paint, table } from '../output.js'
import { openKept, stopSignal } from './sources.js'

export interface PruneCommandOptions {
  readonly store?: string
  readonly source?: readonly string[]
  readonly payloads?: number
  readonly events?: number
  readonly dryRun?: boolean
}

export async function prune(output: Output, options: PruneCommandOptions): Promise<void> {
  await using kept = await openKept(options.store)
  const { payloads, events, source, dryRun = false } = options
  const { archive, format, batch } = kept.retention
  const wanted: RetentionOptions = {
    ...kept.retention,
    ...(payloads === undefined ? {} : { payloads }),
    ...(events === undefined ? {} : { events }),
  }
  const settings = {
    ...(archive === undefined ? {} : { archive }),
    ...(format === undefined ? {} : { format }),
    ...(batch === undefined ? {} : { batch }),
  }
  const policy = retentionPolicy(wanted, kept.sources)
  for (const name of source ?? [])
    if (!policy.has(name))
      throw new Failure(`There is no source "${name}". There are: ${[...policy.keys()].join(', ')}.`)
  const report = await retain(
    { store: kept.store, policy, settings, log: jsonLog(), counters: createCounters() },
    {
      dryRun,
      signal: stopSignal(),
      ...(source === undefined ? {} : { sources: source }),
      onProgress: (progress) => output.progress(`${progress.step}: ${progress.source}`),
    },
  )
  output.progress(null)
  if (report.busy)
    throw new Failure('Another process runs retention on this log now. Try again when it has ended.')
  output.result({ dryRun, ...report }, (paint) => pruneText(report, dryRun, paint))
}

function pruneText({ sources, dropped }: RetainReport, dryRun: boolean, paint: Paint): string {
  const titles = ['SOURCE', 'PAYLOADS', 'EVENTS', 'ATTEMPTS', 'AUDITS', 'ARCHIVED'].map((title) =>
    paint('dim', title),
  )
  const rows = Object.entries(sources).map(([name, one]) => [
    name,
    ...[one.payloads, one.events, one.attempts, one.audits, one.archived].map(String),
  ])
  const partitions = dropped.map(({ name, payloads }) => `partition ${name}: ${payloads} payloads`)
  const head = dryRun ? 'Would be removed (--dry-run):' : 'Removed:'
  return [head, table([titles, ...rows]), ...partitions].join('\n')
}
