import { isOk } from '../post.js'
import { answerTimes } from '../times.js'
import { effects, fail, pass, said, type Trial, unknown } from '../trial.js'

export const slowClient: Trial = {
  name: 'slow-client',
  title: 'an event that arrives in pieces, slowly, is accepted whole',
  why: 'Bodies come in as many pieces as the network likes; the first piece is not the body.',
  requests: 1,
  async run(exam) {
    const event = await exam.sender.event()
    const count = await exam.count(event)
    const answer = await exam.slowly(await exam.sender.delivery(event))
    const counted = count && isOk(answer) ? await count.settled(exam.unit) : null
    const saw = `Answered ${said(answer)}${counted === null ? '' : `; ${effects(counted)}`}.`
    if (!isOk(answer)) return fail('slow_client', saw)
    return counted !== null && counted !== exam.unit ? fail('slow_client', saw) : pass(saw)
  },
}

/** The last: it judges the answers the others got. */
export const answerTime: Trial = {
  name: 'answer-time',
  title: 'answers come within the time the sender waits',
  why: 'A sender that has given up waiting counts the delivery as failed and makes it again.',
  requests: 0,
  async run(exam) {
    const times = answerTimes(exam.answers)
    if (times === null) return unknown('No valid delivery was answered.')
    const limit = `${exam.timeLimit.ms} ms${exam.timeLimit.documented ? '' : ' (the sender documents no limit; assumed)'}`
    const saw = `${times.count} answers: half within ${times.p50Ms} ms, the slowest ${times.maxMs} ms; the limit is ${limit}.`
    const none = exam.answers.filter((answer) => answer.status === null).length
    if (none > 0) return fail('slow_ack', `${saw} ${none} deliveries were not answered at all.`)
    return times.maxMs > exam.timeLimit.ms ? fail('slow_ack', saw) : pass(saw)
  },
}
