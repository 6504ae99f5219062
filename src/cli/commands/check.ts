import type { Command } from 'commander'
import { type Examination, examination } from '../../check/examine.js'
import type { Report, TrialReport } from '../../check/report.js'
import { isHookonceError } from '../../errors.js'
import { defined } from '../../options.js'
import type { Source } from '../../provider.js'
import { addCommand, type Call } from '../command.js'
import { existingCredentials } from '../dev/folder.js'
import { UsageError } from '../failure.js'
import {
  duration,
  flag,
  type OptionsOf,
  parsed,
  readInput,
  secretOf,
  secretOption,
  text,
  texts,
} from '../options.js'
import { counted } from '../output.js'
import { anyFactoryOf, configuredSource, devSource, factoryOf } from '../sources.js'
import { hasConfig } from '../store.js'
import type { Paint, Style } from '../terminal-text.js'

const options = {
  provider: {
    ...text(
      '<provider>',
      'the sender to act as: a source of the configuration, or a provider; see hookonce providers. Or hmac, token, basic, jwt with --option id=json:id',
    ),
    mandatory: true as const,
  },
  ...secretOption(
    'the secret the endpoint has (default: that of the configuration, or of hookonce dev)',
    'HOOKONCE_CHECK_SECRET',
  ),
  option: texts(
    '<name=value>',
    'another option of the provider, such as header=x-signature or timestamp.in=header:x-time; @file reads the value from a file',
  ),
  type: text('<type>', 'the event type to send; it must have an effect'),
  probe: text('<url>', 'a URL that returns the number of effects; {id} stands for the event id'),
  probeCommand: text(
    '<command>',
    'a command that prints the number of effects; HOOKONCE_EVENT_ID holds the event id',
  ),
  restartCommand: text('<command>', 'a command that restarts the endpoint'),
  crashCommand: text(
    '<command>',
    'a command that kills the endpoint in the middle of its work and starts it again',
  ),
  fault: text(
    '<url>',
    'a URL; a POST of {"event_id": ...} makes the endpoint fail the next time it handles that event',
  ),
  only: texts('<trial>', 'run only this trial; may be repeated'),
  wait: parsed(
    '<duration>',
    'how long to wait for an effect; a count that stays unchanged for a tenth of it is final; default 10s',
    duration,
  ),
  strict: flag('trials with the result unknown count as failed'),
  iOwnThisEndpoint: flag('required for an endpoint that is not on this machine'),
}
type CheckOptions = OptionsOf<typeof options>

export function add(program: Command): void {
  addCommand(program, 'check <url>', {
    description: [
      'Tests any webhook endpoint, built on hookonce or not. It sends signed test events: repeated, many at once, changed, forged, stale and slow. For each trial it prints what happened and why it matters. The endpoint receives test events.',
      'With --probe or --probe-command effects are counted, and double effects are found. Without them the result of many trials is unknown.',
    ].join('\n\n'),
    examples: [
      "hookonce check http://localhost:3000/webhooks --provider stripe --secret-file stripe.secret --probe 'http://localhost:3000/effects?id={id}'",
      'hookonce check http://localhost:3000/webhooks --provider github --probe-command \'psql -Atc "select count(*) from builds"\'',
      'hookonce check http://127.0.0.1:4100/webhooks/stripe --provider stripe',
      'hookonce check https://staging.example.com/webhooks --provider stripe --i-own-this-endpoint --strict --json',
    ],
    options,
    run: check,
  })
}

async function check({ options, output }: Call<CheckOptions>, url: string): Promise<number> {
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
    const { type, probe, probeCommand, restartCommand, crashCommand, fault, only, strict } = options
    const { wait: waitMs, iOwnThisEndpoint: owned } = options
    const counting = { probe, probeCommand, restartCommand, crashCommand, fault }
    const given = defined({ type, ...counting, only, strict, waitMs, owned })
    return examination({ ...given, url, source: await sourceOf(options) })
  } catch (error) {
    if (isHookonceError(error)) throw new UsageError(error.message)
    throw error
  }
}

/** Signs with the given secret, else as a source of the configuration, else with the secret of `hookonce dev`. */
async function sourceOf({ provider, secretFile, option }: CheckOptions): Promise<Source> {
  const secret = secretOf(secretFile, 'HOOKONCE_CHECK_SECRET')
  if (secret === undefined && option === undefined) {
    if (hasConfig()) return configuredSource(provider)
    const dev = existingCredentials()
    if (dev !== null) return devSource(factoryOf(provider), dev)
  }
  const factory = anyFactoryOf(provider)
  const [credential = 'secret'] = factory.credentials
  const values = readOptions(option ?? [])
  if (secret !== undefined) values[credential] = secret
  else if (!factory.credentials.some((name) => values[name] !== undefined))
    throw new UsageError(
      `Give the secret of the endpoint: --secret-file, HOOKONCE_CHECK_SECRET, or --option ${credential}=@file. Without one, a source of hookonce.config.ts or the secret of hookonce dev in this folder is used.`,
    )
  return (factory as unknown as (options: object) => Source)(values)
}

/** A dot leads into an option with options: `timestamp.in=header:x-time`. */
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
