/**
 * A field names one value of a delivery: the place of the signature, a signed value, the id of an event. It is a text
 * (`json:data.id`, `header:x-id`) or a small combination of fields. `docs/adding-a-provider.md` lists them all.
 */
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

/** A list is the first of its fields that exists and is not empty. */
export type Field =
  | FieldText
  | readonly Field[]
  | JoinField
  | CompositeField
  | OptionalField
  | HashField
  | MapField
  | ChooseField

export interface JoinField {
  readonly join: readonly Field[]
  readonly separator: string
}
export interface CompositeField {
  readonly composite: readonly Field[]
}
export interface OptionalField {
  readonly optional: Field
}
export interface HashField {
  readonly hash: readonly Field[]
}
export interface MapField {
  readonly map: Field
  readonly to: Readonly<Record<string, string>>
}

export interface ChooseField {
  readonly choose: Field
  readonly from: Readonly<Record<string, Field>>
}

/** Texts with a separator, for a type that people read: `join('.', 'json:object_type', 'json:metric')`. */
export function join(separator: string, ...fields: Field[]): JoinField {
  return { join: fields, separator }
}

/** An id of several values. Different lists of values give different ids. All values must exist. */
export function composite(...fields: Field[]): CompositeField {
  return { composite: fields }
}

/** For a value in `composite` or `join` that may be absent. */
export function optional(field: Field): OptionalField {
  return { optional: field }
}

/** `sha256:<hex>` of these values; the text field `hash` is that of the content. */
export function hash(...fields: Field[]): HashField {
  return { hash: fields }
}

/** Replaces the sender's codes with words; a code that is not listed stays. */
export function mapped(field: Field, to: Readonly<Record<string, string>>): MapField {
  return { map: field, to }
}

/** The field that is listed for the text of another one; absent if the text is not listed. */
export function choose(field: Field, from: Readonly<Record<string, Field>>): ChooseField {
  return { choose: field, from }
}

/** Every text field inside a field. */
export function leaves(field: Field): readonly FieldText[] {
  if (typeof field === 'string') return [field]
  if (isList(field)) return field.flatMap(leaves)
  if ('join' in field) return field.join.flatMap(leaves)
  if ('composite' in field) return field.composite.flatMap(leaves)
  if ('hash' in field) return field.hash.flatMap(leaves)
  if ('map' in field) return leaves(field.map)
  if ('choose' in field) return [field.choose, ...Object.values(field.from)].flatMap(leaves)
  return leaves(field.optional)
}

export function isList(field: Field): field is readonly Field[] {
  return Array.isArray(field)
}

/** `json:data.id` -> [`json`, `data.id`]. */
export function splitField(field: FieldText): readonly [kind: string, rest: string] {
  const colon = field.indexOf(':')
  return colon < 0 ? [field, ''] : [field.slice(0, colon), field.slice(colon + 1)]
}
