/** The contract of a trial: one question about the endpoint. The trials are in `trials/`. */
import type { Delivery } from '../provider.js'
import type { Fault } from './faults.js'
import { type Answer, isOk } from './post.js'
import type { EffectCount } from './probe.js'
import type { Finding } from './report.js'
import type { Sender, SentEvent } from './sender.js'

/** An option of the user that a trial may need. */
export type Need = 'probe' | 'restart' | 'crash' | 'fault'

export interface Trial {
  readonly name: string
  readonly title: string
  readonly why: string
  /** The number of deliveries, at most. */
  readonly requests: number
  /** Without these options the trial does not run, and its result is unknown. */
  readonly needs?: readonly Need[]
  /** A text means that the trial does not apply to this sender, and why. */
  run(exam: Exam): Promise<Finding | string>
}

/** The means of a trial. */
export interface Exam {
  readonly sender: Sender
  /** Signs the event and delivers it. */
  deliver(event: SentEvent): Promise<Answer>
  send(delivery: Delivery): Promise<Answer>
  deliverAtOnce(deliveries: readonly Delivery[]): Promise<Answer[]>
  deliverSlowly(delivery: Delivery): Promise<Answer>
  /** Starts to count the effects of an event; null without a probe. */
  count(event: SentEvent): Promise<EffectCount | null>
  /** How many effects one event has: the count of the probe for the first event. */
  expectedCount: number
  restart(event: SentEvent): Promise<void>
  crash(event: SentEvent): Promise<void>
  /** Makes the endpoint fail the next time it handles this event. */
  fault(event: SentEvent): Promise<void>
  /** How long the trial `later` waits. */
  readonly delayMs: number
  /** How long an answer may take; `documented` when the limit is from the sender's documentation. */
  readonly timeLimit: { readonly ms: number; readonly documented: boolean }
  /** Every answer to a valid delivery so far. */
  readonly answers: readonly Answer[]
}

export const pass = (saw: string): Finding => ({ result: 'pass', saw })
export const unknown = (saw: string): Finding => ({ result: 'unknown', saw })
export const fail = (fault: Fault, saw: string): Finding => ({ result: 'fail', fault, saw })

/** `200`, `no answer (ECONNRESET)`, or a status with the beginning of its body. */
export function said(answer: Answer): string {
  if (answer.status === null) return `no answer (${answer.problem})`
  return isOk(answer) || answer.excerpt === ''
    ? String(answer.status)
    : `${answer.status} "${answer.excerpt.slice(0, 120)}"`
}

/** `48 x 200, 2 x 409`. */
export function tally(answers: readonly Answer[]): string {
  const counts = new Map<string, number>()
  for (const answer of answers) {
    const label = answer.status === null ? `no answer (${answer.problem})` : String(answer.status)
    counts.set(label, (counts.get(label) ?? 0) + 1)
  }
  return [...counts].map(([label, count]) => `${count} x ${label}`).join(', ')
}

export function effects(count: number): string {
  return count === 1 ? '1 effect' : `${count} effects`
}

export const NO_PROBE = 'A second effect can only be seen with --probe or --probe-command.'
