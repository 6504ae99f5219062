import type { Command } from 'commander'
import type { ActionRefusal, ActionResult, EventFilter } from '../../model.js'
import { defined } from '../../options.js'
import type { BulkResult } from '../../processing/actions.js'
import { addCommand, interruptible, pause } from '../command.js'
import { UsageError } from '../failure.js'
import type { EventLog, Verb } from '../log/event-log.js'
import { findEvent, openLog, pagesOf } from '../log/open-log.js'
import { filterOf, filterOptions, logOptions } from '../log/options.js'
import { sayWhyNone } from '../log/why-none.js'
import { contentHash, effects, flag, noteOption, type OptionsOf, parsed, rate } from '../options.js'
import { type Output, table } from '../output.js'
import { printable } from '../terminal-text.js'

const examples: Readonly<Record<Verb, readonly string[]>> = {
  retry: [
    'hookonce retry evt_123',
    'hookonce retry evt_123 --effect charge=null --note "not in the dashboard of the bank"',
    'hookonce retry --source stripe --dead --since 24h --rate 20 --dry-run',
    'hookonce retry --state ignored --reason unhandled --note "added the handler"',
  ],
  replay: [
    'hookonce replay evt_123 --note "fixed the handler"',
    'hookonce replay stripe/evt_123 --force --note "effects may happen again"',
    'hookonce replay evt_123 --conflict --force --note "the second body is right"',
  ],
  ignore: [
    'hookonce ignore evt_123 --note "test delivery"',
    "hookonce ignore --source github --type 'ping*'",
    'hookonce ignore evt_123 --conflict --note "the first body is right"',
  ],
}

const what: Readonly<Record<Verb, string>> = {
  retry: 'Tries failed or ignored events again',
  replay: 'Runs events again, also succeeded ones (with --force)',
  ignore: 'Marks events as ignored, so that they are not handled',
}

const actionOptions = {
  dryRun: flag('print what would happen, change nothing'),
  rate: parsed('<n>', 'events per second at most', rate),
}
const effectOption = {
  effect: effects(
    '<name=json>',
    'what you found out about an effect of ctx.once whose end is unknown: its result as JSON, or null when it did not happen; may be repeated',
  ),
}
const replayOptions = {
  ...effectOption,
  force: flag('also run succeeded events again; their effects may happen again'),
  conflict: parsed(
    '[hash]',
    'run other content, and the two change places: the open one with this hash, or the latest',
    contentHash,
  ),
}
const ignoreOptions = {
  conflict: parsed(
    '[hash]',
    'keep the present content and change nothing else: decides against the open one with this hash, or against all',
    contentHash,
  ),
}
const commonOptions = { ...noteOption, ...filterOptions, ...logOptions }
const own = { retry: effectOption, replay: replayOptions, ignore: ignoreOptions }
type ActionOptions = OptionsOf<typeof actionOptions & typeof replayOptions & typeof commonOptions>

export function add(program: Command, verb: Verb): void {
  addCommand(program, `${verb} [ids...]`, {
    description: `${what[verb]}: name the events (id, or source/id), or choose them with a filter. Each change is recorded in the audit.`,
    examples: examples[verb],
    options: { ...actionOptions, ...own[verb], ...commonOptions },
    async run({ output, options }, ids: string[]) {
      const filter = filterOf(options)
      await using log = await openLog(options)
      return await actOn({ output, log, verb, options, signal: interruptible().signal }, ids, filter)
    },
  })
}

interface Action {
  readonly output: Output
  readonly log: EventLog
  readonly verb: Verb
  readonly options: ActionOptions
  readonly signal: AbortSignal
}

async function actOn(act: Action, ids: readonly string[], filter: EventFilter): Promise<number> {
  if (ids.length > 0 && Object.keys(filter).length > 0)
    throw new UsageError(
      'These events are named by id: leave the filters out, and write source/id where several sources have an id. The audit takes --note.',
    )
  if (act.options.effect && ids.length !== 1)
    throw new UsageError('--effect is about one event: name the event by its id.')
  if (ids.length > 0) return actOnIds(act, ids)
  if (act.options.conflict && act.verb === 'replay')
    throw new UsageError('Name the events whose other content is to run, by their ids.')
  if (typeof act.options.conflict === 'string')
    throw new UsageError(
      'A hash names the content of one event: name the event by its id, before --conflict.',
    )
  if (Object.keys(filter).length === 0)
    throw new UsageError(
      `Name the events by their ids, or choose them with a filter such as --source stripe --dead. See hookonce ${act.verb} --help.`,
    )
  return actOnFound(act, filter)
}

async function actOnIds(act: Action, ids: readonly string[]): Promise<number> {
  const { output, log, verb, options, signal } = act
  const { rate } = options
  const results: ({ source: string; id: string } & ActionResult)[] = []
  for (const id of ids) {
    if (signal.aborted) break
    const event = await findEvent(log, id)
    results.push({
      source: event.source,
      id: event.id,
      ...(await log.act(verb, event, changeOf(options))),
    })
    if (rate !== undefined) await pause(1_000 / rate, signal)
  }
  output.result({ verb, dryRun: options.dryRun === true, results }, (paint) =>
    table(
      results.map((result) => [
        printable(`${result.source}/${result.id}`),
        result.done
          ? `${paint('green', printable(changeText(result, act)))}${options.dryRun ? '  (not done: --dry-run)' : ''}`
          : paint('yellow', why(result.code, verb)),
      ]),
    ),
  )
  return results.length === ids.length && results.every((result) => result.done) ? 0 : 1
}

async function actOnFound(act: Action, filter: EventFilter): Promise<number> {
  const { output, log, verb, options, signal } = act
  const total = await countUpTo(log, filter)
  const result = await log.actOnEvents(verb, filter, {
    ...changeOf(options),
    conflict: options.conflict === true,
    ...defined({ ratePerSecond: options.rate }),
    signal,
    onProgress: (progress) => output.progress(bar(progress.matched, total)),
  })
  output.progress(null)
  const dryRun = options.dryRun === true
  output.result({ verb, dryRun, stopped: signal.aborted, ...result }, () => summary(act, result))
  if (signal.aborted) output.say('stopped; finished changes stay')
  if (result.matched === 0 && !signal.aborted) await sayWhyNone(output, log, filter)
  if (result.matched === 0 && filter.reason !== undefined)
    output.say(`No event was ignored for the reason "${printable(filter.reason)}". The audit takes --note.`)
  return signal.aborted || Object.keys(result.refused).length > 0 ? 1 : 0
}

function changeOf({ note, force, dryRun, conflict, effect: effects }: ActionOptions) {
  return defined({ note, force, dryRun, conflict, effects })
}

/** Keeping the first content leaves the state of the event as it is. */
function changeText({ from, to }: { from: string; to: string }, { verb, options }: Action): string {
  return verb === 'ignore' && options.conflict ? 'first content kept' : `${from} -> ${to}`
}

function summary({ verb, options }: Action, { matched, done, refused }: BulkResult): string {
  const verbs = { retry: 'retried', replay: 'replayed', ignore: options.conflict ? 'decided' : 'ignored' }
  const did = options.dryRun ? `would be ${verbs[verb]} (--dry-run)` : verbs[verb]
  const lines = [`${matched} found, ${done} ${did}`]
  for (const [code, times] of Object.entries(refused)) lines.push(`${times} skipped: ${why(code, verb)}`)
  return lines.join('\n')
}

function why(code: string, verb: Verb): string {
  const reasons: Record<ActionRefusal, string> = {
    EVENT_NOT_FOUND: 'it is no longer in the log',
    EVENT_PROCESSING: 'it is being processed; try again when its attempt has ended',
    MOVE_FORBIDDEN: forbidden[verb],
    FORCE_NEEDED: 'it has succeeded; add --force to run it again (its effects may happen again)',
    PAYLOAD_REMOVED: 'its payload is not stored; if it was archived, restore it from the archive first',
    CONFLICT_NOT_FOUND:
      verb === 'ignore'
        ? 'it has no open conflict'
        : 'no other content is kept beside it: none came, or its bytes were removed',
    CONFLICT_CHANGED: 'the content that --conflict names is not open; look at the event again',
    PAYLOAD_UNREADABLE: 'its payload cannot be decrypted; check the keys of the option encryption',
  }
  return reasons[code as ActionRefusal] ?? printable(code)
}

const forbidden: Readonly<Record<Verb, string>> = {
  retry:
    'only failed and ignored events are retried; hookonce replay --force runs a succeeded one again, and hookonce events show says why another one waits',
  replay: 'it has not been handled yet; hookonce events show says why it waits',
  ignore: 'it is finished already',
}

/** Stops counting at `most`: it is only for the progress bar. */
async function countUpTo(log: EventLog, filter: EventFilter, most = 5_000): Promise<number | null> {
  if (!process.stderr.isTTY) return null
  let found = 0
  for await (const events of pagesOf(log, filter)) {
    found += events.length
    if (found >= most) return null
  }
  return found
}

function bar(done: number, total: number | null): string {
  if (total === null || total === 0) return `${done} events`
  const filled = Math.min(30, Math.round((done / total) * 30))
  return `[${'#'.repeat(filled)}${'.'.repeat(30 - filled)}] ${done} of ${total}`
}
