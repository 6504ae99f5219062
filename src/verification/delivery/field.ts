/**
 * A field names one value of a delivery: the place of the signature, a signed value, the id of an event. It is a text
 * (`json:data.id`, `header:x-id`) or a small combination of fields. `docs/unknown-senders.md` lists them all.
 */
import { hashName, withinLimit } from './names.js'

export type FieldText =
  | `json:${string}`
  | `header:${string}`
  | `query:${string}`
  | `form:${string}`
  | `xml:${string}`
  | `claim:${string}`
  | `option:${string}`
  | `const:${string}`
  | `keys:${string}`
  | 'timestamp'
  | 'method'
  | 'url'
  | 'path'
  | 'index'
  | 'hash'
  | 'signed'
  | 'unique'

/** In a list, the first field that exists and is not empty counts. */
export type Field = FieldText | readonly Field[] | OptionalField | CombinedField | ChooseField

export interface OptionalField {
  readonly optional: Field
}

/** All values must exist, except those that are optional: they are null then. */
export interface CombinedField {
  readonly fields: readonly Field[]
  readonly combination: 'join' | 'composite' | 'hash' | 'mapped' | 'part'
  readonly separator?: string
  combine(values: readonly (string | null)[]): string
}

export interface ChooseField {
  readonly choose: Field
  readonly from: Readonly<Record<string, Field>>
}

/** For a type that people read: `join('.', 'json:object_type', 'json:metric')`. */
export function join(separator: string, ...fields: Field[]): CombinedField {
  const combine = (values: readonly (string | null)[]) =>
    values.filter((value) => value !== null).join(separator)
  return { fields, combination: 'join', separator, combine }
}

/** Different lists of values give different ids. */
export function composite(...fields: Field[]): CombinedField {
  return { fields, combination: 'composite', combine: (values) => withinLimit(JSON.stringify(values)) }
}

/** For a value in `composite` or `join` that may be absent. */
export function optional(field: Field): OptionalField {
  return { optional: field }
}

/** `sha256:<hex>` of these values. The field `'hash'` is that of the content. */
export function hash(...fields: Field[]): CombinedField {
  return { fields, combination: 'hash', combine: (values) => hashName(JSON.stringify(values)) }
}

/** Replaces the sender's codes with words; a code that is not listed stays. */
export function mapped(field: Field, to: Readonly<Record<string, string>>): CombinedField {
  const words = new Map(Object.entries(to))
  const combine = ([code]: readonly (string | null)[]) => words.get(code!) ?? code!
  return { fields: [field], combination: 'mapped', combine }
}

/** One part of a text, from 0: the first of `customer.created` is `customer`. */
export function part(separator: string, index: number, field: Field): CombinedField {
  const combine = ([text]: readonly (string | null)[]) => text!.split(separator)[index] ?? ''
  return { fields: [field], combination: 'part', combine }
}

/** `from` has a field for each text of `field`; another text gives no value. */
export function choose(field: Field, from: Readonly<Record<string, Field>>): ChooseField {
  return { choose: field, from }
}

export function leaves(field: Field): readonly FieldText[] {
  if (typeof field === 'string') return [field]
  if (isList(field)) return field.flatMap(leaves)
  if ('optional' in field) return leaves(field.optional)
  const inner = 'choose' in field ? [field.choose, ...Object.values(field.from)] : field.fields
  return inner.flatMap(leaves)
}

export function isList(field: Field): field is readonly Field[] {
  return Array.isArray(field)
}

/** `json:data.id` -> [`json`, `data.id`]. */
export function splitField(field: FieldText): readonly [kind: string, rest: string] {
  const colon = field.indexOf(':')
  return colon < 0 ? [field, ''] : [field.slice(0, colon), field.slice(colon + 1)]
}
