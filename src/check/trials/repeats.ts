/** Does a repeated event have one effect: at once, later, after a restart, and many times in parallel? */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Exam, WatchedEvent } from '../exam.js'
import type { Fault } from '../faults.js'
import { type Answer, isOk } from '../post.js'
import type { Finding } from '../report.js'
import { answered, effects, fail, NO_PROBE, pass, said, type Trial, unknown } from '../trial.js'

export const again: Trial = {
  name: 'again',
  title: 'the same event delivered twice has one effect',
  why: 'Senders deliver at least once: one lost answer causes a second delivery.',
  requests: 2,
  async run(exam) {
    return twice(exam, await exam.event())
  },
}

export const later = repeatedAfter({
  name: 'later',
  title: 'the same event delivered again later, on a new connection, has one effect',
  why: 'Retries come after minutes, hours and days, when cache entries have expired.',
  fault: 'short_dedupe',
  between: (exam) => sleep(exam.delayMs),
})

export const restart = repeatedAfter({
  name: 'restart',
  title: 'the same event delivered again after a restart has one effect',
  why: 'A deploy between two deliveries is normal.',
  needs: ['restart'],
  fault: 'memory_dedupe',
  between: (exam, event) => exam.restart(event),
})

/** Delivers twice first, to see whether the endpoint deduplicates at all. */
function repeatedAfter(
  options: Pick<Trial, 'name' | 'title' | 'why' | 'needs'> & {
    readonly fault: Fault
    readonly between: (exam: Exam, event: WatchedEvent) => Promise<void>
  },
): Trial {
  const { fault, between, ...trial } = options
  return {
    ...trial,
    requests: 3,
    async run(exam) {
      const event = await exam.event()
      const before = await twice(exam, event)
      if (before.result === 'fail') return before
      await between(exam, event)
      return judge(exam, fault, event, [await exam.deliver(event)])
    },
  }
}

/** Waits for the effect of the first delivery. The burst trials test a repeat that arrives before it. */
export async function twice(exam: Exam, event: WatchedEvent): Promise<Finding> {
  const first = await exam.deliver(event)
  await event.effects(exam.expectedCount)
  return judge(exam, 'no_dedupe', event, [first, await exam.deliver(event)])
}

/** When one more delivery has an effect too, there is no deduplication at all, not only a race. */
function burst(size: number): Trial {
  return {
    name: `burst-${size}`,
    title: `${size} deliveries of one event at once have one effect`,
    why: 'Retries overlap, and several workers of one sender may deliver the same event at the same time.',
    requests: size + 1,
    async run(exam) {
      const event = await exam.event()
      const answers = await exam.deliverAtOnce(event, size)
      const counted = await event.effects(exam.expectedCount)
      const last = await exam.deliver(event)
      const afterwards = await event.effects(exam.expectedCount)
      const saw = `Answered ${tally(answers)}, and ${said(last)} afterwards${counted === null ? '' : `; ${effects(counted)}`}.`
      if (afterwards !== null && counted !== null && afterwards > counted)
        return fail('no_dedupe', `${saw} The last delivery had an effect too.`)
      if (counted !== null && counted > exam.expectedCount) return fail('race', saw)
      // An endpoint may refuse some while it handles the first one, if it accepts a later delivery.
      if (!isOk(last)) return fail('duplicate_refused', saw)
      if (!answers.some(isOk)) return fail('duplicate_refused', `${saw} None of them was accepted.`)
      if (counted === null) return unknown(`${saw} ${NO_PROBE}`)
      return counted < exam.expectedCount ? fail('no_effect', saw) : pass(saw)
    },
  }
}

export const burst10 = burst(10)
export const burst50 = burst(50)

async function judge(
  exam: Exam,
  fault: Fault,
  event: WatchedEvent,
  answers: readonly Answer[],
): Promise<Finding> {
  const refused = answers.find((answer) => !isOk(answer))
  const counted = await event.effects(exam.expectedCount)
  const saw = answered(answers, counted)
  if (counted !== null && counted > exam.expectedCount) return fail(fault, saw)
  if (refused) return fail('duplicate_refused', saw)
  if (counted === null) return unknown(`${saw} ${NO_PROBE}`)
  return counted < exam.expectedCount ? fail('no_effect', saw) : pass(saw)
}

/** `48 x 200, 2 x 409`. */
function tally(answers: readonly Answer[]): string {
  const counts = new Map<string, number>()
  for (const answer of answers) {
    const label = answer.status === null ? `no answer (${answer.problem})` : String(answer.status)
    counts.set(label, (counts.get(label) ?? 0) + 1)
  }
  return [...counts].map(([label, count]) => `${count} x ${label}`).join(', ')
}
