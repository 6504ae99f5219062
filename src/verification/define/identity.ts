import { limits, type Reference } from '../../model.js'
import type { IdentifiedEvent, SchemeFacts, StoredSlice } from '../../provider.js'
import { isForm } from '../delivery/body-formats.js'
import { Compiler, type OptionValues } from '../delivery/compile.js'
import { composite, type Field, isList, leaves } from '../delivery/field.js'
import { eventName, hashName, referenceText, signedName, typeText } from '../delivery/names.js'
import type { DocumentRule, Reading } from '../delivery/reading.js'
import { ByteRanges, type NoSlices, type ReadSlices, slicesReader } from '../delivery/slices.js'
import { isDeeperThan } from '../json-scan.js'
import { signsBody } from '../scheme.js'

export interface EventRule {
  /** Each element of this list (`events[]`) is a slice. Without it the delivery is one event. */
  readonly each?: string
  readonly id: Field
  /**
   * People outside choose the id: a browser, an app. The id then also has the hash of the slice or document, because a
   * guessed id must not hide the event of somebody else.
   */
  readonly idFromOutside?: true
  /** `unknown` when the field is absent: an event is recorded without a type too. */
  readonly type: Field
  readonly reference?: Field
  /** What the event is about, by label: `{ customer: 'json:data.customer_id' }`. A path with `[]` may find several values. */
  readonly references?: References
  /**
   * These bytes must be equal when the id is received again: the whole body (default), the slice or the document (`part`,
   * default with `each`), or `none` if the sender changes them on each retry (an attempt counter, a new time).
   */
  readonly content?: 'body' | 'part' | 'none'
  /** Applies only to slices in which the rules before it found no event, or to a delivery without events. */
  readonly otherwise?: true
}

export type References = Readonly<Record<string, Field>>

export interface Identity {
  /**
   * A signed delivery or slice for which no rule finds an id gets an id made of its signed content: it came from the
   * sender, and an answer of 400 would lose it. Without signed content the list is empty when the body is unreadable or
   * when any slice has no id: a delivery is recorded completely or not at all. A delivery with too many events is one.
   */
  identify(reading: Reading): readonly IdentifiedEvent[]
  /** Finds the events of `identify` in a stored delivery, which has no signature and few headers. */
  slices(reading: Reading): readonly StoredSlice[]
}

export function compileIdentity(
  rules: readonly EventRule[],
  options: OptionValues,
  document: DocumentRule,
): Identity {
  const compiled = rules.map((rule) => compileRule(rule, options, document))
  const isOneEvent = compiled.length === 1 && compiled[0]!.isWhole
  return {
    identify(reading) {
      const events: IdentifiedEvent[] = []
      for (const found of find(compiled, reading)) {
        const id =
          found.id ?? signedName(found.reading) ?? (found.isUnsplit ? hashName(found.content!) : undefined)
        if (id === undefined) return []
        events.push(new ReadEvent(id, found))
      }
      return events
    },
    slices: (reading) =>
      isOneEvent
        ? [new StoredEvent(reading, true, () => find(compiled, reading)[0]!)]
        : find(compiled, reading).map((found) => new StoredEvent(found.reading, !found.isSlice, () => found)),
  }
}

interface FoundEvent {
  readonly id: string | undefined
  readonly type: string
  readonly reference: string | null
  references(): readonly Reference[]
  readonly content: Uint8Array | null
  readonly reading: Reading
  readonly isSlice: boolean
  /** Too many events to record each of them. The bytes name the delivery, even if they are not signed. */
  readonly isUnsplit?: true
}

function find(rules: readonly CompiledRule[], reading: Reading): readonly FoundEvent[] {
  const events: FoundEvent[] = []
  let slicesLost = false
  for (const { rule, isWhole, find: findIn } of rules) {
    if (rule.otherwise && events.some((event) => isWhole || !event.isSlice)) continue
    const taken = rule.otherwise ? new ByteRanges(events.map((event) => event.reading.level(0))) : null
    const found = findIn(reading.again(), taken)
    if (found === 'too_many') return [{ ...whole(reading), isUnsplit: true }]
    if (found !== 'unreadable') for (const event of found) events.push(event)
    // A rule for the whole delivery may be meant for another format of it.
    else if (!isWhole) slicesLost = true
  }
  if (events.length === 0 || slicesLost) events.push(unnamed(rules, reading))
  return events
}

/** The whole delivery as one event. Its type and reference come from the last rule that finds one. */
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
  const references = () => rules.flatMap((rule) => (rule.isWhole ? rule.references(reading.again()) : []))
  return { ...whole(reading), type, reference, references }
}

function whole(reading: Reading): FoundEvent {
  const content = reading.delivery.body
  return {
    ...{ id: undefined, type: unknownType, reference: null, references: () => [] },
    ...{ content, reading, isSlice: false },
  }
}

interface CompiledRule {
  readonly rule: EventRule
  readonly isWhole: boolean
  type(reading: Reading): string | null
  reference(reading: Reading): string | null
  references(reading: Reading): readonly Reference[]
  /** The rule must avoid `taken`, the bytes of the events that other rules found. */
  find(reading: Reading, taken: ByteRanges | null): readonly FoundEvent[] | NoSlices
}

const unknownType = 'unknown'

function compileRule(rule: EventRule, options: OptionValues, document: DocumentRule): CompiledRule {
  const compiler = new Compiler(options)
  const id = compiler.field(rule.idFromOutside ? composite(rule.id, 'hash') : rule.id)
  const readType = compiler.field(rule.type)
  const readReference = rule.reference === undefined ? () => undefined : compiler.field(rule.reference)
  const labelled = Object.entries(rule.references ?? {}).map(
    ([label, field]) => [label, compiler.values(field)] as const,
  )
  const slicesOf: ReadSlices | null = slicesReader(rule.each, document)
  const content = rule.content ?? (slicesOf === null ? 'body' : 'part')
  const type = (reading: Reading) => typeText(readType(reading))
  const reference = (reading: Reading) => referenceText(readReference(reading))

  function references(reading: Reading): readonly Reference[] {
    const found: Reference[] = []
    for (const [label, read] of labelled)
      for (const text of read(reading)) {
        const value = referenceText(text)
        const isKnown = found.some((one) => one.label === label && one.value === value)
        if (value !== null && !isKnown) found.push({ label, value })
        if (found.length > limits.references) return reading.unreadable ? [] : found
      }
    return reading.unreadable ? [] : found
  }

  function event(reading: Reading): FoundEvent {
    // The id is read first: an id in a header is valid even if the body, with type and reference, is unreadable.
    const idText = id(reading)
    const name = reading.unreadable ? undefined : eventName(idText, reading)
    const readableType = type(reading)
    const eventType = reading.unreadable ? null : readableType
    const readableReference = reference(reading)
    return {
      id: name,
      type: eventType ?? unknownType,
      reference: reading.unreadable ? null : readableReference,
      references: () => references(reading),
      content: content === 'none' ? null : content === 'part' ? reading.level(0) : reading.delivery.body,
      reading,
      isSlice: slicesOf !== null,
    }
  }

  return {
    rule,
    isWhole: slicesOf === null,
    type,
    reference,
    references,
    find(reading, taken) {
      if (slicesOf === null) {
        const found = event(reading)
        if (found.id !== undefined) return [found]
        // No event is not an error: a later rule may find one.
        return reading.unreadable ? 'unreadable' : []
      }
      const slices = slicesOf(reading)
      if (typeof slices === 'string') return slices
      if (taken === null) return slices.map(event)
      return slices.filter((slice) => !taken.overlap(slice.level(0))).map(event)
    },
  }
}

export function idIsCovered(rules: readonly EventRule[], facts: SchemeFacts): boolean {
  return rules.every(({ id }) => isCovered(id, facts))
}

function isCovered(id: Field, { covers, timestamp }: SchemeFacts): boolean {
  // A signed header always exists, so the choices after it are never used.
  if (typeof id !== 'string' && isList(id) && typeof id[0] === 'string' && id[0].startsWith('header:')) {
    if (covers.fields.includes(id[0])) return true
  }
  return leaves(id).every((field) => {
    if (covers.fields.includes(field)) return true
    if (/^(json|form|xml|keys):|^(hash|index|signed)$/.test(field)) return signsBody(covers)
    // A claim is read only from a verified token; a timestamp is declared only if it is signed.
    if (/^(const|option|claim):/.test(field)) return true
    if (field === 'timestamp') return timestamp !== null
    return /^(query:|url$|path$)/.test(field) && covers.url
  })
}

/** A class, because a getter in an object literal (for the lazy payload) costs microseconds. */
class ReadEvent implements IdentifiedEvent {
  readonly id: string
  readonly type: string
  readonly reference: string | null
  readonly content: Uint8Array | null
  readonly #found: FoundEvent
  #references: readonly Reference[] | undefined
  #payload: { readonly value: unknown } | undefined

  constructor(id: string, found: FoundEvent) {
    this.id = id
    this.type = found.type
    this.reference = found.reference
    this.content = found.content
    this.#found = found
  }

  get references(): readonly Reference[] {
    this.#references ??= this.#found.references()
    return this.#references
  }

  get payload(): unknown {
    this.#payload ??= { value: parse(this.#found.reading, this.#found.isSlice) }
    return this.#payload.value
  }
}

/** A delivery that is always one event needs no rules for its payload: they are applied when a name is read. */
class StoredEvent implements StoredSlice {
  readonly isWhole: boolean
  readonly #reading: Reading
  readonly #find: () => FoundEvent
  #found: FoundEvent | undefined

  constructor(reading: Reading, isWhole: boolean, find: () => FoundEvent) {
    this.#reading = reading
    this.isWhole = isWhole
    this.#find = find
  }

  get id(): string | null {
    return this.#event.id ?? null
  }

  get type(): string {
    return this.#event.type
  }

  get reference(): string | null {
    return this.#event.reference
  }

  get bytes(): Uint8Array {
    return this.isWhole ? this.#reading.delivery.body : this.#reading.level(0)
  }

  parse(): unknown {
    return parse(this.#reading, !this.isWhole)
  }

  get #event(): FoundEvent {
    this.#found ??= this.#find()
    return this.#found
  }
}

/** A JSON value, a form as an object without prototype, or the text. */
function parse(reading: Reading, isSlice: boolean): unknown {
  const bytes = reading.level(0)
  // A form without the field that holds the JSON of other deliveries (a Slack command) is parsed as a form.
  const isWhole = !isSlice && (bytes === reading.delivery.body || bytes.length === 0)
  if (isWhole && isForm(reading.header('content-type'))) {
    const form: Record<string, string> = Object.create(null)
    for (const [name, value] of reading.formPairs) form[name] = value
    return form
  }
  const text = new TextDecoder().decode(bytes)
  // JSON.parse would block for seconds.
  if (isDeeperThan(bytes, maxParsedDepth)) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Deeper JSON reaches a handler as text. */
const maxParsedDepth = 512
