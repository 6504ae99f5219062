/** Is a valid event accepted, also when it arrives slowly, and is it answered in time? */
import { isOk } from '../post.js'
import { answerTimes } from '../report.js'
import { answered, effects, fail, pass, said, type Trial, unknown } from '../trial.js'

/** Always runs first: the other trials expect its count of effects. */
export const accepts: Trial = {
  name: 'accepts',
  title: 'a signed event is accepted',
  why: 'Without a 2xx the sender retries and finally gives up.',
  requests: 1,
  async run(exam) {
    const event = await exam.event()
    const answer = await exam.deliver(event)
    if (answer.timedOut) return fail('slow_ack', `The endpoint gave ${said(answer)}.`)
    if (answer.status === null) return fail('unreachable', `The endpoint gave ${said(answer)}.`)
    if (!isOk(answer)) return fail('rejects_valid', `Answered ${said(answer)}.`)
    const counted = await event.effects(1)
    if (counted === null) return pass(`Answered ${said(answer)}.`)
    exam.expectedCount = counted
    const saw = `Answered ${said(answer)}; the probe counted ${effects(counted)}.`
    return counted > 0 ? pass(saw) : fail('no_effect', saw)
  },
}

export const slowClient: Trial = {
  name: 'slow-client',
  title: 'an event that arrives in pieces, slowly, is accepted whole',
  why: 'The network splits a body into any number of pieces; the first piece is not the whole body.',
  requests: 1,
  async run(exam) {
    const event = await exam.event()
    const answer = await exam.deliverSlowly(event)
    const counted = isOk(answer) ? await event.effects(exam.expectedCount) : null
    const saw = answered(answer, counted)
    if (!isOk(answer)) return fail('slow_client', saw)
    return counted !== null && counted !== exam.expectedCount ? fail('slow_client', saw) : pass(saw)
  },
}

/** Runs last: it judges the answers of all other trials. */
export const answerTime: Trial = {
  name: 'answer-time',
  title: 'answers come within the time the sender waits',
  why: 'A sender whose time limit has passed counts the delivery as failed and repeats it.',
  requests: 0,
  async run({ answers, timeLimit }) {
    const times = answerTimes(answers)
    if (times === null) return unknown('No valid delivery was answered.')
    const limit = `${timeLimit.ms} ms${timeLimit.documented ? '' : ' (the sender documents no limit; assumed)'}`
    const saw = `${times.count} answers: half of them within ${times.p50Ms} ms, the slowest ${times.maxMs} ms; the limit is ${limit}.`
    const none = answers.filter((answer) => answer.status === null).length
    if (none > 0) return fail('slow_ack', `${saw} ${none} deliveries were not answered at all.`)
    return times.maxMs > timeLimit.ms ? fail('slow_ack', saw) : pass(saw)
  },
}
