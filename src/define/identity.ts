/** From rules to events: which parts of a delivery are events, and what names each of them. */
import { Compiler, type Evaluate, type OptionValues } from '../delivery/compile.js'
import { type Field, isList, leaves } from '../delivery/field.js'
import { isForm } from '../delivery/form.js'
import { eventName, referenceText, signedName, typeText } from '../delivery/names.js'
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

/**
 * A signed delivery, or a part of one, that no rule names gets a name made of its signed content: it came from the
 * sender, and an answer of 400 would lose it. Without a signature the list is empty when the body cannot be read for
 * certain, or when any part has no id: half a delivery is not recorded.
 */
export function compileIdentity(
  rules: readonly EventRule[],
  options: OptionValues,
  document: DocumentRule,
): Identify {
  const compiled = rules.map((rule) => compileRule(rule, options, document))
  return (reading) => {
    const events: IdentifiedEvent[] = []
    let partsLost = false
    for (const one of compiled) {
      if (one.rule.otherwise && events.length > 0) continue
      const found = one.identify(reading.again())
      if (found !== null) events.push(...found)
      else if (signedName(reading) === undefined) return []
      // A rule for the whole delivery may be for another format of it, which another rule names.
      else if (!one.isWhole) partsLost = true
    }
    return events.length > 0 && !partsLost ? events : [...events, ...unnamed(compiled, reading)]
  }
}

/** The whole delivery as one event. Its type and reference are those of the most general rule that has one. */
function unnamed(rules: readonly CompiledRule[], reading: Reading): readonly IdentifiedEvent[] {
  const id = signedName(reading)
  if (id === undefined) return []
  const first = (read: (rule: CompiledRule, reading: Reading) => string | null) => {
    for (const rule of rules.toReversed()) {
      const fresh = reading.again()
      const text = rule.isWhole ? read(rule, fresh) : null
      if (text !== null && !fresh.unreadable) return text
    }
    return null
  }
  const type = first((rule, fresh) => rule.type(fresh)) ?? unknownType
  const reference = first((rule, fresh) => rule.reference(fresh))
  return [new ReadEvent(id, type, reference, reading.delivery.body, () => parse(reading, false))]
}

interface CompiledRule {
  readonly rule: EventRule
  /** The delivery is the event, not a part of it. */
  readonly isWhole: boolean
  type(reading: Reading): string | null
  reference(reading: Reading): string | null
  /** Null: unreadable, or an id is missing and cannot be made up for. */
  identify(reading: Reading): readonly IdentifiedEvent[] | null
}

const unknownType = 'unknown'

function compileRule(rule: EventRule, options: OptionValues, document: DocumentRule): CompiledRule {
  const compiler = new Compiler(options)
  const id = compiler.field(rule.id)
  const readType = compiler.field(rule.type)
  const readReference = rule.reference === undefined ? () => undefined : compiler.field(rule.reference)
  const parts: ReadParts | null = partsReader(rule.each, document)
  const content = rule.content ?? (parts === null ? 'body' : 'part')

  const type = (reading: Reading) => typeText(readType(reading))
  const reference = (reading: Reading) => referenceText(readReference(reading))

  function event(reading: Reading): IdentifiedEvent | null {
    // The id first: a header names the event also where the body, and with it type and reference, cannot be read.
    const eventId = id(reading)
    const given = reading.unreadable ? undefined : eventName(eventId, reading)
    const readableType = type(reading)
    const eventType = reading.unreadable ? null : readableType
    const readableReference = reference(reading)
    const eventReference = reading.unreadable ? null : readableReference
    // The whole delivery may be named by another rule; a part belongs to this one.
    const name = given ?? (parts === null ? undefined : signedName(reading))
    if (name === undefined) return null
    return new ReadEvent(
      name,
      eventType ?? unknownType,
      eventReference,
      content === 'none' ? null : content === 'part' ? reading.level(0) : reading.delivery.body,
      () => parse(reading, parts !== null),
    )
  }

  return {
    rule,
    isWhole: parts === null,
    type,
    reference,
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
  // A form without the field that others have their JSON in (a Slack command) is a form like any other.
  const isWhole = !isPart && (bytes === reading.delivery.body || bytes.length === 0)
  if (isWhole && isForm(reading.header('content-type'))) {
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
export function idIsCovered(rules: readonly EventRule[], facts: SchemeFacts): boolean {
  return rules.every(({ id }) => isCovered(id, facts))
}

function isCovered(id: Field, { covers, timestamp }: SchemeFacts): boolean {
  // A header that is signed has to be there, so the choices after it never come to bear.
  if (typeof id !== 'string' && isList(id) && typeof id[0] === 'string' && id[0].startsWith('header:')) {
    if (covers.fields.includes(id[0])) return true
  }
  return leaves(id).every((field) => {
    if (covers.fields.includes(field)) return true
    if (/^(json|form|xml|keys):|^(hash|index|signed)$/.test(field)) return covers.body !== 'none'
    // A claim is only read from a token that has been verified; a time is only declared where it is signed.
    if (/^(const|option|claim):/.test(field)) return true
    if (field === 'timestamp') return timestamp !== null
    return /^(query:|url$|path$)/.test(field) && covers.url
  })
}

export type { Evaluate }
