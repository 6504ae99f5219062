/** Are deliveries refused that the sender did not sign, or signed long ago? */
import type { Delivery } from '../../provider.js'
import type { Fault } from '../faults.js'
import { isOk } from '../post.js'
import type { Sender, SentEvent } from '../sender.js'
import { answered, fail, pass, type Trial, unknown } from '../trial.js'

interface Forgery extends Pick<Trial, 'name' | 'title' | 'why'> {
  readonly fault: Fault
  readonly leftOut: string
  make(sender: Sender, event: SentEvent): Promise<Delivery | null>
}

/** The endpoint must refuse the delivery with 4xx, and it must have no effect. */
function forgery({ fault, leftOut, make, ...trial }: Forgery): Trial {
  return {
    ...trial,
    requests: 1,
    async run(exam) {
      const event = await exam.event()
      const forgedDelivery = await make(exam.sender, event)
      if (forgedDelivery === null) return leftOut
      const answer = await exam.send(forgedDelivery)
      if (answer.status === null || answer.status >= 500)
        return fail('verifier_crashes', answered(answer, null))
      const counted = await event.effects(0)
      const saw = answered(answer, counted)
      if (counted) return fail(fault, saw)
      if (!isOk(answer)) return pass(saw)
      return counted === 0
        ? unknown(`${saw} It had no effect, but the answer says that it was accepted; answer 401 instead.`)
        : fail(fault, saw)
    },
  }
}

const urlIsKnown = 'The URL is not a secret: it appears in logs, tickets and old configurations.'

export const tampered = forgery({
  name: 'tampered',
  title: 'a changed body under a genuine signature is refused',
  why: 'Otherwise anyone who has seen one delivery can change the amount in it.',
  fault: 'no_verification',
  leftOut: 'its signature does not cover the body',
  make: (sender, event) => sender.tampered(event),
})

export const unsigned = forgery({
  name: 'unsigned',
  title: 'a delivery without a signature is refused',
  why: urlIsKnown,
  fault: 'no_verification',
  leftOut: 'its signature is part of the body',
  make: (sender, event) => sender.unsigned(event),
})

export const forged = forgery({
  name: 'forged',
  title: 'a delivery signed with another secret is refused',
  why: 'A check that a signature exists, without verifying it, protects against nobody.',
  fault: 'no_verification',
  leftOut: 'nothing is signed',
  make: (sender, event) => sender.forged(event),
})

export const mangled = forgery({
  name: 'mangled',
  title: 'a signature of the wrong length is refused with 4xx',
  why: 'A comparison that throws on unequal lengths turns a stranger’s request into a 500, or stops the process.',
  fault: 'no_verification',
  leftOut: 'its signature is part of the body',
  make: (sender, event) => sender.mangled(event),
})

export const stale = forgery({
  name: 'stale',
  title: 'a genuine delivery signed long ago is refused',
  why: 'A captured delivery can be sent again years later, when its id is no longer stored.',
  fault: 'no_timestamp_check',
  leftOut: 'its signature has no time, or a time that is the same in every retry',
  make: (sender, event) => sender.stale(event),
})
