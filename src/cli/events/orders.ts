/** `hookonce retry`, `replay`, `ignore`: an operator's orders on events named by id, or on all a filter finds. */
import type { EventFilter, OrderResult } from '../../model.js'
import type { BulkResult } from '../../processing/orders.js'
import { UsageError } from '../failure.js'
import type { EventLog, Verb } from '../log/event-log.js'
import { findEvent, keyOf } from '../log/find.js'
import { pause } from '../log/store-log.js'
import { type Output, plain, table } from '../output.js'

export interface OrderCommandOptions {
  readonly source?: string
  readonly reason?: string
  readonly force?: boolean
  readonly dryRun?: boolean
  readonly rate?: number
}

export async function orderEvents(
  output: Output,
  log: EventLog,
  verb: Verb,
  ids: readonly string[],
  filter: EventFilter,
  options: OrderCommandOptions,
): Promise<number> {
  const stop = new AbortController()
  process.once('SIGINT', () => stop.abort()).once('SIGTERM', () => stop.abort())
  if (ids.length > 0) return orderIds(output, log, verb, ids, options, stop.signal)
  if (Object.keys(filter).length === 0)
    throw new UsageError(
      `Name the events by their ids, or choose them with a filter such as --source stripe --dead. See hookonce ${verb} --help.`,
    )
  return orderFound(output, log, verb, filter, options, stop.signal)
}

async function orderIds(
  output: Output,
  log: EventLog,
  verb: Verb,
  ids: readonly string[],
  options: OrderCommandOptions,
  signal: AbortSignal,
): Promise<number> {
  const { source, rate, ...by } = options
  const results: ({ source: string; id: string } & OrderResult)[] = []
  for (const id of ids) {
    if (signal.aborted) break
    const event = await findEvent(log, id, source)
    results.push({
      source: event.source,
      id: event.id,
      ...(await log.order(verb, keyOf(event), orderBy(by))),
    })
    if (rate !== undefined) await pause(1_000 / rate, signal)
  }
  output.result({ verb, dryRun: options.dryRun === true, results }, (paint) =>
    table(
      results.map((result) => [
        `${result.source}/${plain(result.id)}`,
        result.done
          ? `${paint('green', `${result.from} -> ${result.to}`)}${options.dryRun ? '  (not done: --dry-run)' : ''}`
          : paint('yellow', why(result.code, verb)),
      ]),
    ),
  )
  return results.length === ids.length && results.every((result) => result.done) ? 0 : 1
}

async function orderFound(
  output: Output,
  log: EventLog,
  verb: Verb,
  filter: EventFilter,
  options: OrderCommandOptions,
  signal: AbortSignal,
): Promise<number> {
  const { rate, ...by } = options
  const total = await countUpTo(log, filter)
  const result = await log.orderMany(verb, filter, {
    ...orderBy(by),
    ...(rate === undefined ? {} : { ratePerSecond: rate }),
    signal,
    onProgress: (progress) => output.progress(bar(progress.matched, total)),
  })
  output.progress(null)
  const dryRun = options.dryRun === true
  output.result({ verb, dryRun, stopped: signal.aborted, ...pick(result) }, () =>
    summary(verb, result, dryRun),
  )
  if (signal.aborted) output.say('stopped; finished changes stay')
  return signal.aborted || Object.keys(result.refused).length > 0 ? 1 : 0
}

function orderBy({ reason, force, dryRun }: OrderCommandOptions) {
  return {
    ...(reason === undefined ? {} : { reason }),
    ...(force === undefined ? {} : { force }),
    ...(dryRun === undefined ? {} : { dryRun }),
  }
}

function pick({ matched, done, refused }: BulkResult): BulkResult {
  return { matched, done, refused }
}

function summary(verb: Verb, { matched, done, refused }: BulkResult, dryRun: boolean): string {
  const verbs = { retry: 'retried', replay: 'replayed', ignore: 'ignored' }
  const lines = [`${matched} found, ${done} ${dryRun ? `would be ${verbs[verb]} (--dry-run)` : verbs[verb]}`]
  for (const [code, times] of Object.entries(refused)) lines.push(`${times} skipped: ${why(code, verb)}`)
  return lines.join('\n')
}

function why(code: string, verb: Verb): string {
  const reasons: Record<string, string> = {
    EVENT_NOT_FOUND: 'it is no longer in the log',
    EVENT_PROCESSING: 'it is being processed; try again when its attempt has ended',
    MOVE_FORBIDDEN: `${verb} is not possible in its state`,
    FORCE_NEEDED: 'it has succeeded; add --force to run it again (its effects may happen again)',
  }
  return reasons[code] ?? code
}

/** How many there are, for the bar only: not further than is worth waiting for. */
async function countUpTo(log: EventLog, filter: EventFilter, most = 5_000): Promise<number | null> {
  if (!process.stderr.isTTY) return null
  let found = 0
  let cursor: string | null = null
  do {
    const page: Awaited<ReturnType<EventLog['list']>> = await log.list(filter, { limit: 500, cursor })
    found += page.events.length
    cursor = page.next
  } while (cursor !== null && found < most)
  return cursor === null ? found : null
}

function bar(done: number, total: number | null): string {
  if (total === null || total === 0) return `${done} events`
  const filled = Math.min(30, Math.round((done / total) * 30))
  return `[${'#'.repeat(filled)}${'.'.repeat(30 - filled)}] ${done} of ${total}`
}
