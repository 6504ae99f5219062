/** `hookonce check`: runs an examination and prints its report. */
import { type Examination, type ExamineOptions, examination } from '../check/examine.js'
import type { Report, TrialReport } from '../check/report.js'
import { isHookonceError } from '../errors.js'
import type { Source } from '../provider.js'
import type { Call } from './command.js'
import { existingCredentials } from './dev/folder.js'
import { UsageError } from './failure.js'
import { readInput } from './options.js'
import { counted } from './output.js'
import { configuredSource, devSource, factoryOf, senderOf } from './sources.js'
import { hasConfig } from './store.js'
import type { Paint, Style } from './terminal-text.js'

type SameInBoth =
  | 'type'
  | 'probe'
  | 'probeCommand'
  | 'restartCommand'
  | 'crashCommand'
  | 'fault'
  | 'only'
  | 'strict'

export interface CheckOptions extends Pick<ExamineOptions, SameInBoth> {
  readonly provider: string
  readonly secret?: string
  readonly option?: readonly string[]
  readonly wait?: number
  readonly iOwnThisEndpoint?: boolean
}

export async function check({ options, output }: Call<CheckOptions>, url: string): Promise<number> {
  const exam = await plan(options, url)
  output.say(
    `Sending at most ${counted(exam.requests, 'delivery', 'deliveries')} to ${new URL(url).host}, up to 50 at once, in ${exam.trials.length} trials.`,
  )
  const report = await exam.run((trial, done) => {
    if (done === null) output.progress(`${trial.name}: ${trial.title} ...`)
    else if (!output.json) output.say((paint) => trialLine(paint, done))
  })
  output.progress(null)
  output.result(report, (paint) => summary(paint, report, options.strict === true))
  return report.ok ? 0 : 1
}

/** Finds mistakes in the call before anything is sent. */
async function plan(options: CheckOptions, url: string): Promise<Examination> {
  try {
    return examination({ ...examineOptions(options), url, source: await sourceOf(options) })
  } catch (error) {
    if (isHookonceError(error)) throw new UsageError(error.message)
    throw error
  }
}

function examineOptions(options: CheckOptions): Omit<ExamineOptions, 'url' | 'source'> {
  const values = {
    type: options.type,
    owned: options.iOwnThisEndpoint,
    probe: options.probe,
    probeCommand: options.probeCommand,
    restartCommand: options.restartCommand,
    crashCommand: options.crashCommand,
    fault: options.fault,
    only: options.only,
    waitMs: options.wait,
    strict: options.strict,
  }
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}

/**
 * The source that signs: with the secret that was given, else a source of the configuration, else the provider with the
 * secret of `hookonce dev` in this folder.
 */
async function sourceOf({ provider, secret, option }: CheckOptions): Promise<Source> {
  if (secret === undefined && option === undefined) {
    if (hasConfig()) return configuredSource(provider)
    const dev = existingCredentials()
    if (dev !== null) return devSource(factoryOf(provider), dev)
  }
  const factory = senderOf(provider)
  const [credential = 'secret'] = factory.credentials
  const values = readOptions(option ?? [])
  if (secret !== undefined) values[credential] = secret
  else if (!factory.credentials.some((name) => values[name] !== undefined))
    throw new UsageError(
      `Give the secret of the endpoint: --secret-file, HOOKONCE_CHECK_SECRET, or --option ${credential}=@file. Without one, a source of hookonce.config.ts or the secret of hookonce dev in this folder is used.`,
    )
  return (factory as unknown as (options: object) => Source)(values)
}

/** A dot in a name leads into an option that has options of its own: `timestamp.in=header:x-time`. */
function readOptions(texts: readonly string[]): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const [name, value] of texts.map(readOption)) {
    const steps = name.split('.')
    const last = steps.pop()!
    let inside = values
    for (const step of steps) {
      inside[step] ??= {}
      inside = inside[step] as Record<string, unknown>
    }
    inside[last] = value
  }
  return values
}

function readOption(text: string): [string, string] {
  const at = text.indexOf('=')
  if (at < 1) throw new UsageError(`--option must be written as name=value, not "${text.slice(0, 20)}".`)
  const value = text.slice(at + 1)
  return [
    text.slice(0, at),
    value.startsWith('@') ? readInput('--option', value.slice(1)).toString('utf8').trim() : value,
  ]
}

const styles: Readonly<Record<TrialReport['result'], Style>> = {
  pass: 'green',
  fail: 'red',
  unknown: 'yellow',
}

function trialLine(paint: Paint, { result, name, title, fault, saw, why, durationMs }: TrialReport): string {
  const head = `${paint(styles[result], result.padEnd(7))}  ${name.padEnd(11)}  ${title} ${paint('dim', `${durationMs} ms`)}`
  const rest = [saw, ...(result === 'fail' ? [`${fault}: ${why}`] : [])]
  return [head, ...rest.map((text) => `${' '.repeat(22)}${text}`)].join('\n')
}

function summary(paint: Paint, report: Report, strict: boolean): string {
  const verdict = report.ok ? paint('green', 'pass') : paint('red', 'fail')
  const lines = [
    `${verdict}: ${report.passed} passed, ${report.failed} failed, ${report.unknown} unknown; ${counted(report.requests, 'delivery', 'deliveries')} in ${(report.durationMs / 1_000).toFixed(1)} s`,
    ...report.faults.flatMap(({ fault, what, fix }) => [`${paint('bold', fault)}: ${what}`, `  ${fix}`]),
    ...report.leftOut.map(({ name, because }) =>
      paint('dim', `${name} does not apply to this sender: ${because}`),
    ),
  ]
  if (report.unknown > 0 && !strict)
    lines.push(
      paint('dim', 'Skipped and unknown trials do not fail the run. Use --strict to make them fail.'),
    )
  return lines.join('\n')
}
