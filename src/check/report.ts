/** The report of an examination, also as JUnit XML. Its shape is that of `hookonce check --json`, and stable. */
import { type Fault, faults } from './faults.js'
import type { Answer } from './post.js'

/** `unknown`: no fault was seen, and the trial could not show that there is none. */
export type TrialResult = 'pass' | 'fail' | 'unknown'

export interface Finding {
  readonly result: TrialResult
  readonly fault?: Fault
  /** The observation, in one or two sentences. */
  readonly saw: string
}

export interface TrialReport {
  readonly name: string
  readonly title: string
  readonly result: TrialResult
  readonly fault: Fault | null
  readonly saw: string
  /** Why it matters. */
  readonly why: string
  readonly requests: number
  readonly durationMs: number
}

export interface AnswerTimes {
  readonly count: number
  readonly p50Ms: number
  readonly p95Ms: number
  readonly maxMs: number
}

export interface Report {
  readonly url: string
  readonly provider: string
  readonly type: string
  /** False when a trial failed; with `strict` also when one is unknown. */
  readonly ok: boolean
  readonly passed: number
  readonly failed: number
  readonly unknown: number
  /** The faults that were found, in the order of `faults.ts`, each with its fix. */
  readonly faults: readonly { readonly fault: Fault; readonly what: string; readonly fix: string }[]
  readonly trials: readonly TrialReport[]
  /** Trials that do not apply to this sender, and why. */
  readonly leftOut: readonly { readonly name: string; readonly because: string }[]
  readonly requests: number
  readonly answerTimes: AnswerTimes | null
  readonly startedAt: string
  readonly durationMs: number
}

/** Null when no delivery was answered. */
export function answerTimes(answers: readonly Answer[]): AnswerTimes | null {
  const times = answers.filter(({ status }) => status !== null).map(({ ms }) => ms)
  if (times.length === 0) return null
  times.sort((a, b) => a - b)
  const quantile = (share: number) => Math.round(times[Math.ceil(share * times.length) - 1]!)
  return { count: times.length, p50Ms: quantile(0.5), p95Ms: quantile(0.95), maxMs: quantile(1) }
}

/** A trial with the result unknown is a skipped test, with its reason. */
export function junit(report: Report): string {
  const { trials, failed, unknown, durationMs, startedAt } = report
  const suite = `name=${quoted(`hookonce check ${report.provider} ${report.url}`)} tests="${trials.length}" failures="${failed}" errors="0" skipped="${unknown}" time="${seconds(durationMs)}" timestamp="${startedAt.slice(0, 19)}"`
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites>',
    `  <testsuite ${suite}>`,
    ...trials.map(testcase),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

function testcase(trial: TrialReport): string {
  const open = `    <testcase classname="hookonce.check" name=${quoted(`${trial.name}: ${trial.title}`)} time="${seconds(trial.durationMs)}"`
  if (trial.result === 'pass') return `${open}/>`
  if (trial.result === 'unknown')
    return `${open}>\n      <skipped message=${quoted(trial.saw)}/>\n    </testcase>`
  const advice = trial.fault === null ? '' : `${faults[trial.fault].what} ${faults[trial.fault].fix}`
  const text = escaped(`${trial.saw}\n${trial.why}\n${advice}`)
  return `${open}>\n      <failure type=${quoted(trial.fault ?? 'fail')} message=${quoted(trial.saw)}>${text}</failure>\n    </testcase>`
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(3)
}

function quoted(text: string): string {
  return `"${escaped(text).replaceAll('\n', ' ')}"`
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** XML cannot contain most control characters, not even escaped. */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\P{C}\n\t]/gu, '\ufffd')
    .replace(/[&<>"]/g, (character) => entities[character]!)
}
