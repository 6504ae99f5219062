/**
 * The references of an event. The first one and its label are columns of its row; the others are rows of a table, so that an
 * event without others costs nothing more. Rows come to the databases as JSON: `[["customer", "cus_1"]]`.
 */
import { ownReference, type Reference } from '../../model.js'

interface Referring {
  readonly reference: string | null
  readonly references?: readonly Reference[]
}

/** The label of `reference`, if one of the references is equal to it. */
export function ownLabelOf({ reference, references }: Referring): string | null {
  return references?.find(({ value }) => value === reference)?.label ?? null
}

/** The references that are rows; null when there are none. */
export function otherReferencesOf({ reference, references }: Referring): string | null {
  if (references === undefined || references.length === 0) return null
  const own = references.find(({ value }) => value === reference)
  return asRows(references.filter((one) => one !== own))
}

/** All references of content that is kept beside that of the event. */
export function contentReferencesOf({ reference, references = [] }: Referring): string | null {
  const isLabelled = reference === null || references.some(({ value }) => value === reference)
  return asRows(isLabelled ? references : [{ label: ownReference, value: reference }, ...references])
}

export function asRows(references: readonly Reference[] = []): string | null {
  return references.length === 0 ? null : JSON.stringify(references.map(({ label, value }) => [label, value]))
}

/** The first is `reference`, if it has a label. */
export function referencesOf(
  reference: string | null,
  label: string | null,
  rows: string | null,
): Reference[] {
  const others: Reference[] = []
  for (const [name, value] of rows === null ? [] : (JSON.parse(rows) as [string, string][]))
    if (name !== label || value !== reference) others.push({ label: name, value })
  return reference === null || label === null ? others : [{ label, value: reference }, ...others]
}
