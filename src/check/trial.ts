/** A trial answers one question about the endpoint. */
import type { Exam } from './exam.js'
import type { Fault } from './faults.js'
import { type Answer, isOk } from './post.js'
import type { Finding } from './report.js'

export type Need = 'probe' | 'restart' | 'crash' | 'fault'

export interface Trial {
  readonly name: string
  readonly title: string
  readonly why: string
  /** At most. */
  readonly requests: number
  /** Without these options the trial does not run, and its result is unknown. */
  readonly needs?: readonly Need[]
  /** A text means that the trial does not apply to this sender, and why. */
  run(exam: Exam): Promise<Finding | string>
}

export const pass = (saw: string): Finding => ({ result: 'pass', saw })
export const unknown = (saw: string): Finding => ({ result: 'unknown', saw })
export const fail = (fault: Fault, saw: string): Finding => ({ result: 'fail', fault, saw })

/** `Answered 200, then 409; 1 effect.` `counted` is null without a probe. */
export function answered(answers: Answer | readonly Answer[], counted: number | null): string {
  const texts = [answers].flat().map(said).join(', then ')
  return `Answered ${texts}${counted === null ? '' : `; ${effects(counted)}`}.`
}

/** `200`, `no answer (ECONNRESET)`, or a status with the beginning of its body. */
export function said(answer: Answer): string {
  if (answer.status === null) return `no answer (${answer.problem})`
  return isOk(answer) || answer.excerpt === ''
    ? String(answer.status)
    : `${answer.status} "${answer.excerpt.slice(0, 120)}"`
}

export function effects(count: number): string {
  return count === 1 ? '1 effect' : `${count} effects`
}

export const NO_PROBE = 'A second effect can only be seen with --probe or --probe-command.'
