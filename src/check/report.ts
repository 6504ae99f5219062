/** What an examination says. The shape is that of `hookonce check --json`, and stable. */
import type { Fault } from './faults.js'

/** `unknown`: nothing wrong was seen, and it could not be seen whether all is right. */
export type TrialResult = 'pass' | 'fail' | 'unknown'

/** What a trial found. */
export interface Finding {
  readonly result: TrialResult
  readonly fault?: Fault
  /** One or two sentences of what was seen. */
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
  /** The faults that were found, most telling first, with what to do. */
  readonly faults: readonly { readonly fault: Fault; readonly what: string; readonly fix: string }[]
  readonly trials: readonly TrialReport[]
  /** Trials that make no sense for this sender, and why. */
  readonly leftOut: readonly { readonly name: string; readonly because: string }[]
  readonly requests: number
  readonly answerTimes: AnswerTimes | null
  readonly startedAt: string
  readonly durationMs: number
}
