/** Does an event whose handling failed or was killed still have its one effect? */
import type { Exam, WatchedEvent } from '../exam.js'
import { type Answer, isOk } from '../post.js'
import type { Finding } from '../report.js'
import { answered, fail, pass, type Trial } from '../trial.js'

const REDELIVERIES = 3
const CRASHES = 3

export const failure: Trial = {
  name: 'failure',
  title: 'an event whose handling failed once has its effect in the end',
  why: 'Databases and other services fail now and then. An event that is marked as done before its work is then lost.',
  requests: 1 + REDELIVERIES,
  needs: ['probe', 'fault'],
  async run(exam) {
    const event = await exam.event()
    await exam.fault(event)
    return recovered(exam, event, [await exam.deliver(event)])
  },
}

export const crash: Trial = {
  name: 'crash',
  title: 'an event whose handling was cut off by a crash has one effect',
  why: 'Processes are killed in the middle of their work. An event that was partly handled must not be lost or have two effects.',
  requests: CRASHES * (1 + REDELIVERIES),
  needs: ['probe', 'crash'],
  async run(exam) {
    let finding: Finding = pass('')
    for (let round = 0; round < CRASHES && finding.result === 'pass'; round++) {
      const event = await exam.event()
      const sending = exam.send(await exam.sender.delivery(event))
      const [answer] = await Promise.all([sending, exam.crash(event)])
      finding = await recovered(exam, event, [answer])
    }
    return finding
  },
}

/** Waits for an endpoint that retries by itself; else delivers again, as a sender would. */
async function recovered(exam: Exam, event: WatchedEvent, answers: Answer[]): Promise<Finding> {
  const acknowledged = isOk(answers[0]!)
  let counted = (await event.effects(acknowledged ? exam.expectedCount : 0)) ?? 0
  const byItself = counted >= exam.expectedCount
  while (counted < exam.expectedCount && answers.length <= REDELIVERIES) {
    const answer = await exam.deliver(event)
    answers.push(answer)
    counted = (await event.effects(isOk(answer) ? exam.expectedCount : 0)) ?? 0
    // More deliveries would show the same.
    if (isOk(answer) && counted < exam.expectedCount) break
  }
  const saw = answered(answers, counted)
  if (counted > exam.expectedCount) return fail('effect_not_atomic', saw)
  if (counted < exam.expectedCount)
    return fail('mark_before_work', `${saw} The event counts as done, but its effect is missing.`)
  if (acknowledged && !byItself)
    return fail(
      'lost_after_ack',
      `${saw} Its effect came only after another delivery, and no sender delivers again after a 2xx.`,
    )
  return pass(saw)
}
