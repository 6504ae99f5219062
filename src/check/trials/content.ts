/** Does another content, under a known id or about a known object, have a wrong effect? */
import { isOk } from '../post.js'
import { answered, effects, fail, NO_PROBE, pass, said, type Trial, unknown } from '../trial.js'
import { twice } from './repeats.js'

const MINUTE_MS = 60_000

export const conflict: Trial = {
  name: 'conflict',
  title: 'the same event id with other content has no second effect',
  why: 'A sender that reuses an id, or a forger who has one signed delivery, must not trigger the effect again.',
  requests: 3,
  async run(exam) {
    const event = await exam.event()
    const other = await exam.sender.changed(event)
    if (other === null) return 'a change of its events would also change their id'
    const before = await twice(exam, event)
    if (before.result === 'fail') return before
    const answer = await exam.deliver(other)
    const counted = await event.effects(exam.expectedCount)
    const saw = answered(answer, counted)
    if (counted !== null && counted > exam.expectedCount) return fail('dedupe_by_content', saw)
    // A 409 is a correct answer to a conflict; a 5xx is not.
    if (answer.status === null || answer.status >= 500) return fail('duplicate_refused', saw)
    return counted === null ? unknown(`${saw} ${NO_PROBE}`) : pass(saw)
  },
}

export const order: Trial = {
  name: 'order',
  title: 'an older event about the same object, after a newer one, is accepted and has no effect',
  why: 'Senders do not keep the order: "paid" may arrive before "created".',
  requests: 2,
  async run(exam) {
    const newer = await exam.sender.event()
    const sent = await exam.sender.event(Date.now() - MINUTE_MS)
    const reference = async (event: typeof newer) =>
      exam.sender.source.identify(await exam.sender.delivery(event))[0]?.reference ?? null
    if ((await reference(newer)) === null) return 'its sample events have no reference'
    if ((await reference(newer)) !== (await reference(sent)))
      return 'its sample events have different references'
    const first = await exam.deliver(newer)
    const older = await exam.watch(sent)
    const second = await exam.deliver(older)
    const saw = `The newer one was answered ${said(first)}, the older one ${said(second)}`
    if (!isOk(second)) return fail('order_refused', `${saw}.`)
    const counted = await older.effects(0)
    if (counted === 0) return pass(`${saw}; the older one had no effect, because it was stale.`)
    return unknown(
      counted === null
        ? `${saw}. Its effect can only be seen with --probe or --probe-command.`
        : `${saw} and had ${effects(counted)}. A count cannot show whether it overwrote newer data: compare times or versions in the handler.`,
    )
  },
}
