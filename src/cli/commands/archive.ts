import type { Command } from 'commander'
import { defined } from '../../options.js'
import {
  type ArchiveCheck,
  archiveList,
  archiveRestore,
  archiveVerify,
} from '../../retention/archive/read.js'
import { archiveRun } from '../../retention/archive/run.js'
import { takeLease } from '../../retention/retain.js'
import { addCommand, addGroup, interruptible } from '../command.js'
import { Failure } from '../failure.js'
import { storeOption } from '../log/options.js'
import { actorName } from '../log/store-log.js'
import { day, noteOption, type OptionsOf, parsed, text, texts } from '../options.js'
import { counted, type Output, table } from '../output.js'
import { archiveTarget, archiveToRead, openRetention } from '../retention.js'

const archiveOptions = {
  archive: text('<folder>', 'the folder of the archive (default: retention.archive of the configuration)'),
  source: text('<name>', 'only events of this source'),
}
const dayOptions = {
  ...archiveOptions,
  from: parsed('<day>', 'from this day on, such as 2026-07-01 (UTC)', day),
  to: parsed('<day>', 'up to this day', day),
}
const restoreOptions = {
  id: texts('<event id>', 'only this event; may be repeated'),
  ...noteOption,
  ...dayOptions,
  ...storeOption,
}
type ArchiveOptions = OptionsOf<typeof restoreOptions>

export function add(program: Command): void {
  const archive = addGroup(program, 'archive')
  addCommand(archive, 'run', {
    summary: 'copy payloads into the archive',
    examples: ['hookonce archive run --archive ./archive'],
    options: { ...archiveOptions, ...storeOption },
    run: ({ output, options }) => run(output, options),
  })
  addCommand(archive, 'list', {
    summary: 'list the contents of the archive',
    examples: ['hookonce archive list --archive ./archive --source stripe --from 2026-07-01'],
    options: dayOptions,
    run: ({ output, options }) => list(output, options),
  })
  addCommand(archive, 'verify', {
    summary: 'read the archive back and check every hash',
    examples: ['hookonce archive verify --archive ./archive'],
    options: dayOptions,
    run: ({ output, options }) => verify(output, options),
  })
  addCommand(archive, 'restore', {
    summary: 'copy payloads back to their events',
    examples: ['hookonce archive restore --archive ./archive --id evt_123 --note "replay for ticket 4711"'],
    options: restoreOptions,
    run: ({ output, options }) => restore(output, options),
  })
}

async function run(output: Output, options: ArchiveOptions): Promise<void> {
  await using context = await openRetention(options.store)
  const target = await archiveTarget(options.archive, context.retention)
  const names = [...context.sources.keys()].filter(
    (name) => options.source === undefined || name === options.source,
  )
  const lease = await takeLease(context.store)
  if (lease === null)
    throw new Failure('Another process runs retention on this log now. Try again when it has finished.')
  const { signal } = interruptible()
  const sources: Record<string, { objects: number; deliveries: number }> = {}
  try {
    for (const source of names) {
      sources[source] = await archiveRun({
        store: context.store,
        target,
        source,
        before: Date.now(),
        signal,
        insist: lease.extend,
        onProgress: (progress) => output.progress(`${progress.source} ${progress.day}`),
      })
    }
  } finally {
    output.progress(null)
    await lease.drop()
  }
  output.result({ archive: target.name, sources }, () => {
    if (names.length === 0) return 'The log has no events to archive.'
    return table(
      Object.entries(sources).map(([name, { deliveries, objects }]) => [
        name,
        `${counted(deliveries, 'delivery', 'deliveries')} in ${counted(objects, 'object', 'objects')}`,
      ]),
    )
  })
}

interface ArchivedDay {
  readonly source: string
  readonly day: string
  readonly deliveries: number
  readonly events: number
  readonly objects: number
  readonly bytes: number
}

async function list(output: Output, options: ArchiveOptions): Promise<void> {
  const target = await archiveToRead(options.archive)
  const days: ArchivedDay[] = []
  for await (const { source, day, deliveries, events, objects } of archiveList(target, filterOf(options)))
    days.push({
      source,
      day,
      deliveries,
      events,
      objects: objects.length,
      bytes: objects.reduce((sum, { bytes }) => sum + bytes, 0),
    })
  output.result({ archive: target.name, days }, (paint) =>
    days.length === 0
      ? `No archived delivery in ${target.name} matches.`
      : table([
          ['SOURCE', 'DAY', 'DELIVERIES', 'EVENTS', 'OBJECTS', 'BYTES'].map((title) => paint('dim', title)),
          ...days.map(({ source, day, deliveries, events, objects, bytes }) => [
            source,
            day,
            ...[deliveries, events, objects, bytes].map(String),
          ]),
        ]),
  )
}

async function verify(output: Output, options: ArchiveOptions): Promise<number> {
  const target = await archiveToRead(options.archive)
  const days: ArchiveCheck[] = []
  for await (const checked of archiveVerify(target, filterOf(options))) {
    days.push(checked)
    output.progress(`${checked.source} ${checked.day}`)
  }
  output.progress(null)
  const damaged = days.filter(({ problems }) => problems.length > 0)
  output.result({ archive: target.name, ok: damaged.length === 0, days }, (paint) =>
    damaged.length === 0
      ? `${target.name}: ${counted(days.length, 'day', 'days')} verified, no damage`
      : damaged
          .flatMap(({ source, day, problems }) =>
            problems.map((problem) => `${paint('red', 'DAMAGED')} ${source} ${day}: ${problem}`),
          )
          .join('\n'),
  )
  return damaged.length === 0 ? 0 : 1
}

async function restore(output: Output, options: ArchiveOptions): Promise<void> {
  await using context = await openRetention(options.store)
  const target = await archiveTarget(options.archive, context.retention)
  const report = await archiveRestore({
    store: context.store,
    target,
    ...filterOf(options),
    ...defined({ eventIds: options.id }),
    actor: actorName(),
    note: options.note ?? '',
    signal: interruptible().signal,
    onProgress: ({ restored }) => output.progress(`${restored} restored`),
  })
  output.progress(null)
  output.result(
    { archive: target.name, ...report },
    () =>
      `${counted(report.restored, 'payload', 'payloads')} restored, ${report.skipped} skipped (already in the log, erased, or without an event)${report.refused > 0 ? `\n${report.refused} refused: the log has no receipt of their objects, so they were changed or belong to another log` : ''}`,
  )
}

function filterOf({ source, from, to }: ArchiveOptions) {
  return defined({ source, from, to })
}
