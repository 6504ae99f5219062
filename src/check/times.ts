import type { Answer } from './post.js'
import type { AnswerTimes } from './report.js'

/** Null when nothing was answered. */
export function answerTimes(answers: readonly Answer[]): AnswerTimes | null {
  const times = answers.filter(({ status }) => status !== null).map(({ ms }) => ms)
  if (times.length === 0) return null
  times.sort((a, b) => a - b)
  const at = (share: number) => Math.round(times[Math.ceil(share * times.length) - 1]!)
  return { count: times.length, p50Ms: at(0.5), p95Ms: at(0.95), maxMs: at(1) }
}
