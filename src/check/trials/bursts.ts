import { isOk } from '../post.js'
import { effects, fail, NO_PROBE, pass, said, type Trial, tally, unknown } from '../trial.js'

/** Afterwards it is delivered once more: whether that has an effect too tells a race from no dedupe at all. */
function burst(size: number): Trial {
  return {
    name: `burst-${size}`,
    title: `${size} deliveries of one event at once have one effect`,
    why: 'Retries overlap, and several workers of one sender may deliver the same event at once.',
    requests: size + 1,
    async run(exam) {
      const event = await exam.sender.event()
      const count = await exam.count(event)
      const deliveries = await Promise.all(Array.from({ length: size }, () => exam.sender.delivery(event)))
      const answers = await exam.together(deliveries)
      const counted = count ? await count.settled(exam.unit) : null
      const last = await exam.deliver(event)
      const afterwards = count ? await count.settled(exam.unit) : null
      const saw = `Answered ${tally(answers)}, and ${said(last)} afterwards${counted === null ? '' : `; ${effects(counted)}`}.`
      if (afterwards !== null && counted !== null && afterwards > counted)
        return fail('no_dedupe', `${saw} The last delivery had an effect too.`)
      if (counted !== null && counted > exam.unit) return fail('race', saw)
      // Some may be told to come again while the first one is at work, as long as they then hear a 2xx.
      if (!isOk(last)) return fail('duplicate_refused', saw)
      if (!answers.some(isOk)) return fail('duplicate_refused', `${saw} None of them was accepted.`)
      if (counted === null) return unknown(`${saw} ${NO_PROBE}`)
      return counted < exam.unit ? fail('no_effect', saw) : pass(saw)
    },
  }
}

export const burst10 = burst(10)
export const burst50 = burst(50)
