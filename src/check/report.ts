/** `hookonce check --json` prints this shape. Keep it stable. */
import type { Fault } from './faults.js'
import type { Answer } from './post.js'

/** `unknown`: no fault was seen, and the trial could not show that there is none. */
type TrialResult = 'pass' | 'fail' | 'unknown'

export interface Finding {
  readonly result: TrialResult
  readonly fault?: Fault
  /** One or two sentences. */
  readonly saw: string
}

export interface TrialReport {
  readonly name: string
  readonly title: string
  readonly result: TrialResult
  readonly fault: Fault | null
  readonly saw: string
  readonly why: string
  readonly requests: number
  readonly durationMs: number
}

interface AnswerTimes {
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
  /** In the order of `faults.ts`. */
  readonly faults: readonly { readonly fault: Fault; readonly what: string; readonly fix: string }[]
  readonly trials: readonly TrialReport[]
  /** Trials that do not apply to this sender, and why. */
  readonly leftOut: readonly { readonly name: string; readonly because: string }[]
  readonly requests: number
  readonly answerTimes: AnswerTimes | null
  readonly startedAt: string
  readonly durationMs: number
}

export function answerTimes(answers: readonly Answer[]): AnswerTimes | null {
  const times = answers.filter(({ status }) => status !== null).map(({ ms }) => ms)
  if (times.length === 0) return null
  times.sort((a, b) => a - b)
  const quantile = (share: number) => Math.round(times[Math.ceil(share * times.length) - 1]!)
  return { count: times.length, p50Ms: quantile(0.5), p95Ms: quantile(0.95), maxMs: quantile(1) }
}
