/** From rules to events: which parts of a delivery are events, and what names each of them. */
import { Compiler, type Evaluate, type OptionValues, withinLimit } from '../delivery/compile.js'
import { type Field, isList, leaves } from '../delivery/field.js'
import { isForm } from '../delivery/form.js'
import { partsReader, type ReadParts } from '../delivery/parts.js'
import type { DocumentRule, Reading } from '../delivery/reading.js'
import type { IdentifiedEvent, SchemeFacts } from '../provider.js'

export interface EventRule {
  /** The list whose parts are the events, such as `events[]`. Without it the delivery is one event. */
  readonly each?: string
  readonly id: Field
  /** `unknown` when the field is not there: a type never decides whether an event is kept. */
  readonly type: Field
  readonly reference?: Field
  /**
   * What must be equal when the id comes back: the whole body (default), the part (default with `each`), or `none`
   * where the sender changes it on each retry (an attempt counter, a new timestamp).
   */
  readonly content?: 'body' | 'part' | 'none'
  /** Applies only when the rules before it found nothing. */
  readonly otherwise?: true
}

export type Identify = (reading: Reading) => readonly IdentifiedEvent[]

/** Empty when the body cannot be read for certain, or when any part has no id: half a delivery is not recorded. */
export function compileIdentity(
  rules: readonly EventRule[],
  options: OptionValues,
  document: DocumentRule,
): Identify {
  const compiled = rules.map((rule) => compileRule(rule, options, document))
  return (reading) => {
    const events: IdentifiedEvent[] = []
    for (const { rule, identify } of compiled) {
      if (rule.otherwise && events.length > 0) continue
      const found = identify(reading)
      if (found === null) return []
      events.push(...found)
    }
    return events
  }
}

interface CompiledRule {
  readonly rule: EventRule
  /** Null: unreadable, or an id is missing. */
  identify(reading: Reading): readonly IdentifiedEvent[] | null
}

function compileRule(rule: EventRule, options: OptionValues, document: DocumentRule): CompiledRule {
  const compiler = new Compiler(options)
  const id = compiler.field(rule.id)
  const type = compiler.field(rule.type)
  const reference = rule.reference === undefined ? () => undefined : compiler.field(rule.reference)
  const parts: ReadParts | null = partsReader(rule.each, document)
  const content = rule.content ?? (parts === null ? 'body' : 'part')

  function event(reading: Reading): IdentifiedEvent | null {
    const eventId = id(reading)
    const eventType = type(reading)
    const eventReference = reference(reading)
    if (reading.unreadable || !isName(eventId)) return null
    return new ReadEvent(
      eventId,
      isName(eventType) ? eventType : 'unknown',
      isName(eventReference) ? withinLimit(eventReference) : null,
      content === 'none' ? null : content === 'part' ? reading.level(0) : reading.delivery.body,
      () => parse(reading, parts !== null),
    )
  }

  return {
    rule,
    identify(reading) {
      // With other rules to follow, no event here is no failure: it may be one of theirs.
      if (parts === null) {
        const one = event(reading)
        return one === null ? (reading.unreadable ? null : []) : [one]
      }
      const list = parts(reading)
      if (list === null) return null
      const events = list.map(event)
      return events.includes(null) ? null : (events as IdentifiedEvent[])
    },
  }
}

/** A lone surrogate has no bytes of its own in the log: two ids would become one. */
function isName(text: string | undefined): text is string {
  return text !== undefined && text !== '' && text.isWellFormed()
}

/** A class for its lazy payload: a getter in an object literal costs microseconds each time. */
class ReadEvent implements IdentifiedEvent {
  readonly id: string
  readonly type: string
  readonly reference: string | null
  readonly content: Uint8Array | null
  readonly #parse: () => unknown
  #payload: { readonly value: unknown } | undefined

  constructor(
    id: string,
    type: string,
    reference: string | null,
    content: Uint8Array | null,
    parsePayload: () => unknown,
  ) {
    this.id = id
    this.type = type
    this.reference = reference
    this.content = content
    this.#parse = parsePayload
  }

  get payload(): unknown {
    this.#payload ??= { value: this.#parse() }
    return this.#payload.value
  }
}

/** JSON where it is JSON, a form as an object without prototype, else text. */
function parse(reading: Reading, isPart: boolean): unknown {
  const bytes = reading.level(0)
  if (!isPart && bytes === reading.delivery.body && isForm(reading.header('content-type'))) {
    const form: Record<string, string> = Object.create(null)
    for (const [name, value] of reading.formPairs) form[name] = value
    return form
  }
  const text = new TextDecoder().decode(bytes)
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Whether the signature covers everything the id is made of. */
export function idIsCovered(rules: readonly EventRule[], covers: SchemeFacts['covers']): boolean {
  return rules.every(({ id }) => isCovered(id, covers))
}

function isCovered(id: Field, covers: SchemeFacts['covers']): boolean {
  // A header that is signed has to be there, so the choices after it never come to bear.
  if (typeof id !== 'string' && isList(id) && typeof id[0] === 'string' && id[0].startsWith('header:')) {
    if (covers.fields.includes(id[0])) return true
  }
  return leaves(id).every((field) => {
    if (covers.fields.includes(field)) return true
    if (/^(json|form|xml|keys):|^(hash|index)$/.test(field)) return covers.body !== 'none'
    // A claim is only read from a token that has been verified.
    if (/^(const|option|claim):/.test(field)) return true
    return /^(query:|url$|path$)/.test(field) && covers.url
  })
}

export type { Evaluate }
