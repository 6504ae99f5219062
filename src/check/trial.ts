/** The contract of a trial: one question put to the endpoint. `trials/` holds them. */
import type { Delivery } from '../provider.js'
import type { Fault } from './faults.js'
import { type Answer, isOk } from './post.js'
import type { EffectCount } from './probe.js'
import type { Finding } from './report.js'
import type { Sender, SentEvent } from './sender.js'

/** What a trial may need from the user besides the endpoint. */
export type Need = 'probe' | 'restart' | 'crash' | 'fault'

export interface Trial {
  readonly name: string
  readonly title: string
  readonly why: string
  /** Deliveries at most. */
  readonly requests: number
  /** Without these it is not run, and its result is unknown. */
  readonly needs?: readonly Need[]
  /** A text: it makes no sense for this sender, because of that. */
  run(exam: Exam): Promise<Finding | string>
}

/** What trials work with. */
export interface Exam {
  readonly sender: Sender
  /** Signs the event and delivers it. */
  deliver(event: SentEvent): Promise<Answer>
  send(delivery: Delivery): Promise<Answer>
  together(deliveries: readonly Delivery[]): Promise<Answer[]>
  slowly(delivery: Delivery): Promise<Answer>
  /** Starts to count the effects of an event; null without a probe. */
  count(event: SentEvent): Promise<EffectCount | null>
  /** How many effects one event has: what the probe said of the first one. */
  unit: number
  restart(event: SentEvent): Promise<void>
  crash(event: SentEvent): Promise<void>
  /** Makes the endpoint fail the next time it handles this event. */
  fault(event: SentEvent): Promise<void>
  /** How long a redelivery is put off. */
  readonly delayMs: number
  /** Slower than this is too slow; `documented` when the sender says so. */
  readonly timeLimit: { readonly ms: number; readonly documented: boolean }
  /** Every answer to a valid delivery so far. */
  readonly answers: readonly Answer[]
}

export const pass = (saw: string): Finding => ({ result: 'pass', saw })
export const unknown = (saw: string): Finding => ({ result: 'unknown', saw })
export const fail = (fault: Fault, saw: string): Finding => ({ result: 'fail', fault, saw })

/** `200`, or `no answer (ECONNRESET)`, with the beginning of what a refusal says. */
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
    const word = answer.status === null ? `no answer (${answer.problem})` : String(answer.status)
    counts.set(word, (counts.get(word) ?? 0) + 1)
  }
  return [...counts].map(([word, count]) => `${count} x ${word}`).join(', ')
}

export function effects(count: number): string {
  return count === 1 ? '1 effect' : `${count} effects`
}

export const NO_PROBE = 'A second effect can only be seen with --probe or --probe-command.'
