/** Labelled references of a row: columns such as `reference.customer`, and `references`, which holds several. */
import type { Reference } from '../../model.js'
import { labelProblem } from '../../references.js'
import type { ImportRow } from './rows.js'

const PREFIX = 'reference.'
export type LabelField = `${typeof PREFIX}${string}`

export const isLabelField = (field: string): field is LabelField => field.startsWith(PREFIX)
export const labelOf = (field: string): string => field.slice(PREFIX.length)

/** Those that the user names, and those of the row. */
export function labelColumns(
  columns: Readonly<Record<LabelField, string>>,
  row: ImportRow,
): Record<LabelField, string> {
  const own = Object.keys(row).map((column) => [column, column] as const)
  const all = [...own, ...Object.entries<string>(columns)]
  return Object.fromEntries(all.filter(([field]) => isLabelField(field)))
}

type Pair = [label: unknown, value: unknown]

/** `several` is a list as `events list --json` has it, an object with a value for each label, or JSON text of either. */
export function referencesOf(
  several: unknown,
  row: ImportRow,
  columns: Readonly<Record<LabelField, string>>,
): Reference[] {
  const inColumns = Object.entries(labelColumns(columns, row)).map(
    ([field, column]): Pair => [labelOf(field), row[column] ?? null],
  )
  return [...pairsOf(several), ...inColumns].flatMap(([label, value]) => {
    const problem = labelProblem(label)
    if (problem !== null) throw new Error(`the label ${shown(label)} of a reference ${problem}`)
    if (value === null || value === '') return []
    if (typeof value !== 'string' && typeof value !== 'number')
      throw new Error(`the reference with the label ${shown(label)} must be text or a number`)
    return [{ label: label as string, value: String(value) }]
  })
}

function pairsOf(several: unknown): Pair[] {
  const value = typeof several === 'string' ? parsed(several) : several
  if (value === null || value === '') return []
  if (Array.isArray(value)) {
    if (value.every((one) => one?.label !== undefined)) return value.map(({ label, value }) => [label, value])
  } else if (typeof value === 'object') return Object.entries(value)
  throw new Error(
    `the references are ${shown(several)}; they must be a JSON list of { label, value } or an object`,
  )
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const shown = (value: unknown) => JSON.stringify(value).slice(0, 40)
