/** From rules to events: which parts of a delivery are events, and what names each of them. */

import type { IdentifiedEvent, SchemeFacts, StoredPart } from '../../provider.js'
import { Compiler, type Evaluate, type OptionValues } from '../delivery/compile.js'
import { type Field, isList, leaves } from '../delivery/field.js'
import { eventName, referenceText, signedName, typeText } from '../delivery/names.js'
import { partsReader, type ReadParts } from '../delivery/parts.js'
import { Ranges } from '../delivery/ranges.js'
import type { DocumentRule, Reading } from '../delivery/reading.js'
import { ReadEvent } from './read-event.js'

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
  /** Applies only where the rules before it found nothing: to the parts that hold no event yet, or to the delivery. */
  readonly otherwise?: true
}

export interface Identity {
  /**
   * A signed delivery, or a part of one, that no rule names gets a name made of its signed content: it came from the
   * sender, and an answer of 400 would lose it. Without a signature the list is empty when the body cannot be read
   * for certain, or when any part has no id: half a delivery is not recorded.
   */
  identify(reading: Reading): readonly IdentifiedEvent[]
  /** The same list in the same order from what is stored of a delivery, which has no signature and few headers. */
  parts(reading: Reading): readonly StoredPart[]
}

export function compileIdentity(
  rules: readonly EventRule[],
  options: OptionValues,
  document: DocumentRule,
): Identity {
  const compiled = rules.map((rule) => compileRule(rule, options, document))
  return {
    identify(reading) {
      const events: IdentifiedEvent[] = []
      for (const found of find(compiled, reading)) {
        const id = found.id ?? signedName(found.reading)
        if (id === undefined) return []
        events.push(new ReadEvent(id, found))
      }
      return events
    },
    parts: (reading) => find(compiled, reading).map((found) => new ReadEvent(found.id ?? null, found)),
  }
}

/** One event as the rules found it; without an id where they could not name it. */
export interface FoundEvent {
  readonly id: string | undefined
  readonly type: string
  readonly reference: string | null
  readonly content: Uint8Array | null
  readonly reading: Reading
  readonly isPart: boolean
}

function find(rules: readonly CompiledRule[], reading: Reading): readonly FoundEvent[] {
  const events: FoundEvent[] = []
  let partsLost = false
  for (const { rule, isWhole, find: findIn } of rules) {
    if (rule.otherwise && events.some((event) => isWhole || !event.isPart)) continue
    const taken = rule.otherwise ? new Ranges(events.map((event) => event.reading.level(0))) : null
    const found = findIn(reading.again(), taken)
    if (found !== null) for (const event of found) events.push(event)
    // A rule for the whole delivery may be for another format of it, which another rule names.
    else if (!isWhole) partsLost = true
  }
  if (events.length === 0 || partsLost) events.push(unnamed(rules, reading))
  return events
}

/** The whole delivery as one event. Its type and reference are those of the most general rule that has one. */
function unnamed(rules: readonly CompiledRule[], reading: Reading): FoundEvent {
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
  return { id: undefined, type, reference, content: reading.delivery.body, reading, isPart: false }
}

interface CompiledRule {
  readonly rule: EventRule
  /** The delivery is the event, not a part of it. */
  readonly isWhole: boolean
  type(reading: Reading): string | null
  reference(reading: Reading): string | null
  /** Null: unreadable. `taken` are the bytes in which other rules have found events, where that matters. */
  find(reading: Reading, taken: Ranges | null): readonly FoundEvent[] | null
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

  function event(reading: Reading): FoundEvent {
    // The id first: a header names the event also where the body, and with it type and reference, cannot be read.
    const given = id(reading)
    const name = reading.unreadable ? undefined : eventName(given, reading)
    const readableType = type(reading)
    const eventType = reading.unreadable ? null : readableType
    const readableReference = reference(reading)
    return {
      id: name,
      type: eventType ?? unknownType,
      reference: reading.unreadable ? null : readableReference,
      content: content === 'none' ? null : content === 'part' ? reading.level(0) : reading.delivery.body,
      reading,
      isPart: parts !== null,
    }
  }

  return {
    rule,
    isWhole: parts === null,
    type,
    reference,
    find(reading, taken) {
      if (parts === null) {
        const one = event(reading)
        if (one.id !== undefined) return [one]
        // With other rules to follow, no event here is no failure: it may be one of theirs.
        return reading.unreadable ? null : []
      }
      const list = parts(reading)
      if (list === null || taken === null) return list?.map(event) ?? null
      return list.filter((part) => !taken.touch(part.level(0))).map(event)
    },
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
