/**
 * A sender may spell JSON in many valid ways, and signs the bytes it sends. An endpoint that parses the body and
 * serialises it again before it verifies gets other bytes.
 */
import type { Exam } from '../exam.js'
import { type Answer, isOk } from '../post.js'
import { fail, pass, said, type Trial, unknown } from '../trial.js'

interface Spelling {
  readonly name: string
  write(document: object): string
  /** The added member in its usual spelling. An endpoint that refuses this too has only a strict schema. */
  control?(document: object): string
}

const spellings: readonly Spelling[] = [
  { name: 'whitespace between the values', write: (document) => ` ${JSON.stringify(document, null, 2)}\r\n` },
  {
    name: 'keys in another order',
    write: (document) => JSON.stringify(Object.fromEntries(Object.entries(document).reverse())),
  },
  { name: 'letters written as \\u escapes', write: (document) => escaped(JSON.stringify(document)) },
  added('a number beyond 2^53', '9007199254740993', '1'),
  added('numbers such as 1.0 and 1E2', '[1.0,1E2]', '[1,100]'),
  added('a slash and an accent escaped', '"\\/\\u00E9"', '"a"'),
]

function added(name: string, unusual: string, usual: string): Spelling {
  const withMember = (text: string) => (document: object) =>
    `${JSON.stringify(document).slice(0, -1)},"hookonce_check":${text}}`
  return { name, write: withMember(unusual), control: withMember(usual) }
}

/** Escapes the first letter of each text value; keys stay as they are. */
function escaped(compact: string): string {
  return compact.replace(
    /:"([A-Za-z])/g,
    (_, letter: string) => `:"\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

export const spelling: Trial = {
  name: 'spelling',
  title: 'the signature is checked over the received bytes',
  why: 'JSON can be written in many ways. A body that is parsed and serialised again has other bytes, and its valid signature no longer matches.',
  requests: spellings.length + spellings.filter(({ control }) => control !== undefined).length,
  async run(exam) {
    const refused: string[] = []
    const unclear: string[] = []
    for (const { name, write, control } of spellings) {
      const answer = await deliverSpelled(exam, write)
      if (answer === null) return 'its signature is not over the bytes of a JSON object'
      if (isOk(answer)) continue
      const controlAnswer = control ? await deliverSpelled(exam, control) : null
      if (controlAnswer && !isOk(controlAnswer)) unclear.push(name)
      else refused.push(`${name} (${said(answer)})`)
    }
    if (refused.length > 0)
      return fail('reserialised_signature', `Refused, though correctly signed: ${refused.join('; ')}.`)
    const accepted = `Accepted ${spellings.length - unclear.length} of ${spellings.length} spellings.`
    if (unclear.length === 0) return pass(accepted)
    return unknown(
      `${accepted} It refuses any body with a member it does not know, so ${unclear.join('; ')} could not be tried.`,
    )
  },
}

/** Each spelling is a new event: a duplicate could be accepted without being verified. */
async function deliverSpelled(exam: Exam, write: (document: object) => string): Promise<Answer | null> {
  const event = exam.sender.spelled(await exam.sender.event(), write)
  return event && exam.deliver(event)
}
