/** References by label: `customer`, `invoice`. The label `reference` stands for the first reference of an event. */
import { limits, ownReference, type Reference } from './model.js'

/** Null when it is valid. */
export function labelProblem(label: unknown): string | null {
  if (label === ownReference) return `cannot be "${ownReference}", which is the first reference of an event`
  if (
    typeof label === 'string' &&
    /^[A-Za-z][A-Za-z0-9_-]*$/.test(label) &&
    label.length <= limits.labelBytes
  )
    return null
  return `must be 1 to ${limits.labelBytes} letters, digits, dashes or underscores, and begin with a letter`
}

/** Null when events of a source with these labels can be ordered by it. */
export function orderProblem(order: string, labels: readonly string[] = []): string | null {
  if (order === ownReference || labels.includes(order)) return null
  const known = [ownReference, ...labels].map((label) => `"${label}"`).join(', ')
  return `must be one of ${known}, not "${order}"; the option \`references\` of the source adds labels`
}

interface Referring {
  readonly reference: string | null
  readonly references?: readonly Reference[]
}

/** Events of one lane run one after the other. Null: the event waits for no other. */
export function laneOf(
  order: string | null | undefined,
  { reference, references }: Referring,
): string | null {
  if (order === ownReference) return reference
  return order == null ? null : (references?.find(({ label }) => label === order)?.value ?? null)
}
