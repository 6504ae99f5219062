/** `hookonce prune`: runs retention once. */
import { createCounters } from '../../counters.js'
import { jsonLog } from '../../log.js'
import { type RetentionOptions, retentionPolicy } from '../../retention/policy.js'
import { type RetainReport, retain } from '../../retention/retain.js'
import { interruptible } from '../command.js'
import { Failure } from '../failure.js'
import { type Output, table } from '../output.js'
import type { Paint } from '../terminal-text.js'
import { openRetention } from './sources.js'

export interface PruneCommandOptions {
  readonly store?: string
  readonly source?: readonly string[]
  readonly payloads?: number
  readonly events?: number
  readonly dryRun?: boolean
}

export async function prune(output: Output, options: PruneCommandOptions): Promise<void> {
  await using context = await openRetention(options.store)
  const { payloads, events, source, dryRun = false } = options
  const { archive, format, batch } = context.retention
  const wanted: RetentionOptions = {
    ...context.retention,
    ...(payloads === undefined ? {} : { payloads }),
    ...(events === undefined ? {} : { events }),
  }
  const settings = {
    ...(archive === undefined ? {} : { archive }),
    ...(format === undefined ? {} : { format }),
    ...(batch === undefined ? {} : { batch }),
  }
  const policy = retentionPolicy(wanted, context.sources)
  for (const name of source ?? [])
    if (!policy.has(name))
      throw new Failure(`There is no source "${name}". Sources: ${[...policy.keys()].join(', ')}.`)
  const report = await retain(
    { store: context.store, policy, settings, log: jsonLog(), counters: createCounters() },
    {
      dryRun,
      signal: interruptible().signal,
      ...(source === undefined ? {} : { sources: source }),
      onProgress: (progress) => output.progress(`${progress.step}: ${progress.source}`),
    },
  )
  output.progress(null)
  if (report.busy)
    throw new Failure('Another process runs retention on this log now. Try again when it has finished.')
  output.result({ dryRun, ...report }, (paint) => pruneText(report, dryRun, paint))
}

function pruneText({ sources, dropped }: RetainReport, dryRun: boolean, paint: Paint): string {
  const titles = ['SOURCE', 'PAYLOADS', 'EVENTS', 'ATTEMPTS', 'AUDITS', 'ARCHIVED'].map((title) =>
    paint('dim', title),
  )
  const rows = Object.entries(sources).map(([name, counts]) => [
    name,
    ...[counts.payloads, counts.events, counts.attempts, counts.audits, counts.archived].map(String),
  ])
  const partitions = dropped.map(({ name, payloads }) => `partition ${name}: ${payloads} payloads`)
  const head = dryRun ? 'Would be deleted (--dry-run):' : 'Deleted:'
  return [head, table([titles, ...rows]), ...partitions].join('\n')
}
