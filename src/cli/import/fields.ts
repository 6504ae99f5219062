import { labelProblem } from '../../references.js'
import { type ImportedEvent, type ImportedState, importedStates } from '../../store/imports.js'
import { UsageError } from '../failure.js'
import { isLabelField, type LabelField, labelColumns, labelOf, referencesOf } from './references.js'
import type { ImportRow } from './rows.js'

/** The most certain name first: `id` is often the number of the row. */
const usualNames = {
  id: ['event_id', 'eventid', 'webhook_id', 'external_id', 'id'],
  type: ['event_type', 'eventtype', 'type'],
  time: ['received_at', 'receivedat', 'created_at', 'createdat', 'time', 'timestamp', 'created'],
  processed: ['processed_at', 'processedat'],
  reference: ['related_reference', 'reference'],
  references: ['references'],
  payload: ['payload', 'body'],
  state: [],
} as const

type UsualField = keyof typeof usualNames
type FieldName = UsualField | LabelField
export type Columns = Partial<Record<UsualField, string>> & Record<LabelField, string>

const fieldNames = Object.keys(usualNames) as UsualField[]

/** A column that the user names, else a usual name that the first row has. */
export function columnsOf(first: ImportRow, mapped: readonly string[]): Columns {
  const columns: Columns = {}
  const found = Object.keys(first)
  for (const text of mapped) {
    const [field = '', column = ''] = text.split(/=(.*)/s)
    if (!(fieldNames.includes(field as UsualField) || isLabelField(field)) || column === '')
      throw new UsageError(
        `--map must be field=column, with a field of ${fieldNames.join(', ')}, reference.<label>; not ${text}.`,
      )
    if (!found.includes(column))
      throw new UsageError(`--map ${text}: there is no column ${column}; there is ${found.join(', ')}.`)
    columns[field as FieldName] = column
  }
  addUsual(columns, first)
  Object.assign(columns, labelColumns(columns, first))
  if (columns.id === undefined)
    throw new UsageError(
      `No column holds the event id: name it with --map id=column. There is ${found.join(', ')}.`,
    )
  for (const field of Object.keys(columns).filter(isLabelField)) {
    const problem = labelProblem(labelOf(field))
    if (problem !== null) throw new UsageError(`The label of ${field} ${problem}.`)
  }
  return columns
}

/** Rows of NDJSON leave out what they have not, so the first row may have fewer columns than a later one. */
export function addUsual(columns: Columns, row: ImportRow): void {
  const found = Object.keys(row)
  for (const field of fieldNames) {
    if (columns[field] !== undefined) continue
    const usual = usualNames[field].flatMap(
      (name) => found.find((column) => column.toLowerCase() === name) ?? [],
    )
    if (usual[0] !== undefined) columns[field] = usual[0]
  }
}

interface Defaults {
  readonly source: string
  readonly state: ImportedState
  /** For rows without a time. */
  readonly now: number
}

/** The message of a thrown error is about the row. */
export function eventOf(row: ImportRow, columns: Columns, defaults: Defaults): ImportedEvent {
  const at = (field: FieldName) => (columns[field] === undefined ? null : (row[columns[field]] ?? null))
  const eventId = textOf(at('id'))
  if (eventId === null) throw new Error(`the column ${columns.id} is empty`)
  const stateText = textOf(at('state')) ?? defaults.state
  const state = importedStates.find((known) => known === stateText)
  if (state === undefined)
    throw new Error(`the state is "${stateText}"; it must be one of ${importedStates.join(', ')}`)
  const processed = at('processed')
  return {
    source: defaults.source,
    id: eventId,
    type: textOf(at('type')) ?? 'imported',
    reference: textOf(at('reference')),
    references: referencesOf(at('references'), row, columns),
    receivedAt: at('time') === null ? defaults.now : instantOf('time', at('time')),
    processedAt: processed === null ? null : instantOf('processed', processed),
    state,
    reason: state === 'succeeded' ? null : 'imported',
    payload: payloadOf(at('payload')),
  }
}

function textOf(value: unknown): string | null {
  if (value === null || value === '') return null
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** A date, ISO 8601 (UTC when there is no zone, as databases print it), or seconds or milliseconds since 1970. */
function instantOf(field: string, value: unknown): number {
  if (value instanceof Date) return value.getTime()
  const text = String(value).trim()
  if (/^\d{9,16}(\.\d+)?$/.test(text)) {
    const number = Number(text)
    if (number < 1e11) return Math.round(number * 1_000)
    return Math.round(number < 1e14 ? number : number / 1_000)
  }
  const [, day, time = '00:00:00', zone = 'Z'] =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?))?\s*(Z|[+-]\d\d(?::?\d\d)?)?$/i.exec(text) ?? []
  const offset = /^[+-]\d\d$/.test(zone) ? `${zone}:00` : zone.replace(/^([+-]\d\d)(\d\d)$/, '$1:$2')
  const at = day === undefined ? Number.NaN : Date.parse(`${day}T${time.slice(0, 23)}${offset}`)
  if (Number.isNaN(at)) throw new Error(`the ${field} is "${text.slice(0, 40)}", which is no time`)
  return at
}

function payloadOf(value: unknown): ImportedEvent['payload'] {
  if (value === null || value === '') return null
  if (value instanceof Uint8Array) return { headers: {}, body: value }
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return { headers: { 'content-type': 'application/json' }, body: Buffer.from(text) }
}
