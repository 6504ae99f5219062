import { isOk } from '../post.js'
import { effects, fail, pass, said, type Trial } from '../trial.js'

/** Always the first: what it sees of one event is the measure for the others. */
export const accepts: Trial = {
  name: 'accepts',
  title: 'a signed event is accepted',
  why: 'Without a 2xx the sender delivers again and in the end gives up.',
  requests: 1,
  async run(exam) {
    const event = await exam.sender.event()
    const count = await exam.count(event)
    const answer = await exam.deliver(event)
    if (answer.timedOut) return fail('slow_ack', `The endpoint gave ${said(answer)}.`)
    if (answer.status === null) return fail('unreachable', `The endpoint gave ${said(answer)}.`)
    if (!isOk(answer)) return fail('rejects_valid', `Answered ${said(answer)}.`)
    if (!count) return pass(`Answered ${said(answer)}.`)
    exam.unit = await count.settled(1)
    const saw = `Answered ${said(answer)}; the probe counted ${effects(exam.unit)}.`
    return exam.unit > 0 ? pass(saw) : fail('no_effect', saw)
  },
}
