import type { Command } from 'commander'
import { Counters } from '../../counters.js'
import { jsonLog } from '../../log.js'
import { unknownSource } from '../../nearest.js'
import { defined } from '../../options.js'
import { retentionPolicy } from '../../retention/policy.js'
import { type RetainReport, retain } from '../../retention/retain.js'
import { addCommand, interruptible } from '../command.js'
import { Failure } from '../failure.js'
import { storeOption } from '../log/options.js'
import { duration, flag, type OptionsOf, parsed, texts } from '../options.js'
import { type Output, table } from '../output.js'
import { openRetention } from '../retention.js'
import type { Paint } from '../terminal-text.js'

const options = {
  source: texts('<name>', 'only events of this source; may be repeated'),
  payloads: parsed('<age>', 'how long payloads are kept (default: as configured, else 30d)', duration),
  events: parsed(
    '<age>',
    'how long events and their ids are kept (default: as configured, else 90d)',
    duration,
  ),
  dryRun: flag('count expired rows, delete nothing'),
  ...storeOption,
}

export function add(program: Command): void {
  addCommand(program, 'prune', {
    description:
      'Deletes payloads, events, attempts and audits of finished events that are older than the configured ages. Unfinished events are kept. An age below the retry window of a sender is an error.',
    examples: ['hookonce prune --dry-run', 'hookonce prune --source stripe --payloads 7d'],
    options,
    run: ({ output, options }) => prune(output, options),
  })
}

async function prune(output: Output, given: OptionsOf<typeof options>): Promise<void> {
  await using context = await openRetention(given.store)
  const { payloads, events, source, dryRun = false } = given
  const { archive, batch } = context.retention
  const settings = defined({ archive, batch })
  const policy = retentionPolicy({ ...context.retention, ...defined({ payloads, events }) }, context.sources)
  for (const name of source ?? []) if (!policy.has(name)) throw unknownSource(name, policy.keys())
  const report = await retain(
    { store: context.store, policy, settings, log: jsonLog(), counters: new Counters() },
    {
      dryRun,
      signal: interruptible().signal,
      ...defined({ sources: source }),
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
