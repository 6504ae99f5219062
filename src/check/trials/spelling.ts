import { type Answer, isOk } from '../post.js'
import { spellings } from '../spellings.js'
import { type Exam, fail, pass, said, type Trial, unknown } from '../trial.js'

export const spelling: Trial = {
  name: 'spelling',
  title: 'the signature is checked over the bytes as they came',
  why: 'JSON has many spellings. Parsed and written again it is other bytes, and a valid signature no longer fits.',
  requests: spellings.length + spellings.filter((one) => one.plainly).length,
  async run(exam) {
    const refused: string[] = []
    const unclear: string[] = []
    for (const { name, write, plainly } of spellings) {
      const answer = await tried(exam, write)
      if (answer === null) return 'its signature is not over the bytes of a JSON object'
      if (isOk(answer)) continue
      const control = plainly ? await tried(exam, plainly) : null
      if (control && !isOk(control)) unclear.push(name)
      else refused.push(`${name} (${said(answer)})`)
    }
    if (refused.length > 0)
      return fail('reserialised_signature', `Refused, though correctly signed: ${refused.join('; ')}.`)
    const taken = `Accepted ${spellings.length - unclear.length} of ${spellings.length} spellings.`
    if (unclear.length === 0) return pass(taken)
    return unknown(
      `${taken} It refuses any body with a member it does not know, so ${unclear.join('; ')} could not be tried.`,
    )
  },
}

/** Each as an event of its own, so that no dedupe answers for the verifier. */
async function tried(exam: Exam, write: (document: object) => string): Promise<Answer | null> {
  const event = exam.sender.spelled(await exam.sender.event(), write)
  return event && exam.deliver(event)
}
