import { setTimeout as sleep } from 'node:timers/promises'
import type { Fault } from '../faults.js'
import { type Answer, isOk } from '../post.js'
import type { EffectCount } from '../probe.js'
import type { Finding } from '../report.js'
import type { SentEvent } from '../sender.js'
import { type Exam, effects, fail, NO_PROBE, pass, said, type Trial, unknown } from '../trial.js'

export const again: Trial = {
  name: 'again',
  title: 'the same event delivered twice has one effect',
  why: 'Senders deliver at least once: one lost answer causes a second delivery.',
  requests: 2,
  async run(exam) {
    const event = await exam.sender.event()
    return twice(exam, event, await exam.count(event))
  },
}

export const later = repeatedAfter({
  name: 'later',
  title: 'the same event delivered again later, on a new connection, has one effect',
  why: 'Retries come after minutes, hours and days, when cache entries have expired.',
  fault: 'short_dedupe',
  happens: (exam) => sleep(exam.delayMs),
})

export const restart = repeatedAfter({
  name: 'restart',
  title: 'the same event delivered again after a restart has one effect',
  why: 'A deploy between two deliveries is normal.',
  needs: ['restart'],
  fault: 'memory_dedupe',
  happens: (exam, event) => exam.restart(event),
})

/** Twice, to know that it is deduplicated at all; then something happens, and it comes a third time. */
function repeatedAfter(
  given: Pick<Trial, 'name' | 'title' | 'why' | 'needs'> & {
    readonly fault: Fault
    readonly happens: (exam: Exam, event: SentEvent) => Promise<void>
  },
): Trial {
  const { fault, happens, ...words } = given
  return {
    ...words,
    requests: 3,
    async run(exam) {
      const event = await exam.sender.event()
      const count = await exam.count(event)
      const before = await twice(exam, event, count)
      if (before.result === 'fail') return before
      await happens(exam, event)
      return judge(exam, fault, count, [await exam.deliver(event)])
    },
  }
}

/** The first one's effect is waited for: a repeat that overtakes it is another trial. */
export async function twice(exam: Exam, event: SentEvent, count: EffectCount | null): Promise<Finding> {
  const first = await exam.deliver(event)
  await count?.settled(exam.unit)
  return judge(exam, 'no_dedupe', count, [first, await exam.deliver(event)])
}

async function judge(
  exam: Exam,
  fault: Fault,
  count: EffectCount | null,
  answers: readonly Answer[],
): Promise<Finding> {
  const refused = answers.find((answer) => !isOk(answer))
  const counted = count ? await count.settled(exam.unit) : null
  const saw = `Answered ${answers.map(said).join(', then ')}${counted === null ? '' : `; ${effects(counted)}`}.`
  if (counted !== null && counted > exam.unit) return fail(fault, saw)
  if (refused) return fail('duplicate_refused', saw)
  if (counted === null) return unknown(`${saw} ${NO_PROBE}`)
  return counted < exam.unit ? fail('no_effect', saw) : pass(saw)
}
