/** An event that was read from a delivery. A class for its lazy payload: a getter in a literal costs microseconds. */
import { isForm } from '../delivery/form.js'
import type { Reading } from '../delivery/reading.js'
import type { FoundEvent } from './identity.js'

export class ReadEvent<Id extends string | null> {
  readonly id: Id
  readonly type: string
  readonly reference: string | null
  readonly content: Uint8Array | null
  readonly #found: FoundEvent
  #payload: { readonly value: unknown } | undefined

  constructor(id: Id, found: FoundEvent) {
    this.id = id
    this.type = found.type
    this.reference = found.reference
    this.content = found.content
    this.#found = found
  }

  get payload(): unknown {
    this.#payload ??= { value: this.parse() }
    return this.#payload.value
  }

  get isWhole(): boolean {
    return !this.#found.isPart
  }

  /** Anew each time: whoever gets it may change it. */
  parse(): unknown {
    return parse(this.#found.reading, this.#found.isPart)
  }
}

/** JSON where it is JSON, a form as an object without prototype, else text. */
function parse(reading: Reading, isPart: boolean): unknown {
  const bytes = reading.level(0)
  // A form without the field that others have their JSON in (a Slack command) is a form like any other.
  const isWhole = !isPart && (bytes === reading.delivery.body || bytes.length === 0)
  if (isWhole && isForm(reading.header('content-type'))) {
    const form: Record<string, string> = Object.create(null)
    for (const [name, value] of reading.formPairs) form[name] = value
    return form
  }
  const text = new TextDecoder().decode(bytes)
  // JSON.parse would block for seconds on it.
  if (reading.tooDeep) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
