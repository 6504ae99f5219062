/** Rows come one at a time: an export may be larger than memory. */
import type { Readable } from 'node:stream'
import type pg from 'pg'
import { importOptional } from '../../optional-module.js'
import { Failure, firstSentence, UsageError } from '../failure.js'
import { linesOf } from '../lines.js'

/** An empty cell of a CSV file is null. */
export type ImportRow = Readonly<Record<string, unknown>>

/** Intake accepts payloads of 1 MiB by default; escapes and other cells make a row longer. */
const MAX_ROW_CHARACTERS = 16 * 1024 * 1024
const MAX_CELLS = 10_000

/** A file whose first line begins with a brace is NDJSON; any other is CSV with a header line. */
export async function* fileRows(input: Readable): AsyncGenerator<ImportRow> {
  let isJson: boolean | undefined
  let columns: string[] | undefined
  let record = new CsvRecord()
  let start = 1
  let line = 0
  for await (const text of linesOf(textOf(input), { maxCharacters: MAX_ROW_CHARACTERS, tooLong })) {
    line++
    if (text.trim() !== '') isJson ??= text.trimStart().startsWith('{')
    if (isJson) {
      if (text.trim() !== '') yield objectOf(text, line)
      continue
    }
    record.read(text)
    if (record.characters > MAX_ROW_CHARACTERS) throw tooLong(start)
    if (record.cells.length > MAX_CELLS)
      throw new UsageError(`The row at line ${start} of the file has more than ${MAX_CELLS} cells.`)
    if (record.isOpen) continue
    const { cells, isEmpty } = record
    record = new CsvRecord()
    start = line + 1
    if (isEmpty) continue
    if (columns === undefined) columns = cells.map((cell) => cell.trim())
    else yield Object.fromEntries(columns.map((name, i) => [name, cells[i] || null]))
  }
  if (record.isOpen)
    throw new UsageError(
      `The CSV file ends inside the quoted cell that begins in the row at line ${start}. Is it complete?`,
    )
}

/** RFC 4180: cells may be quoted, and hold separators, line ends and doubled quotes then. */
class CsvRecord {
  readonly cells: string[] = []
  characters = 0
  /** The last line ended inside a quoted cell. */
  isOpen = false
  #cell: string[] = []

  get isEmpty(): boolean {
    return this.cells.length === 1 && this.cells[0] === ''
  }

  read(line: string): void {
    this.characters += line.length + 1
    for (let at = 0; at <= line.length && this.cells.length <= MAX_CELLS; ) at = this.#readCell(line, at)
  }

  /** Returns the place after the cell. */
  #readCell(line: string, start: number): number {
    let at = start
    if (!this.isOpen) {
      if (line[at] !== '"') return this.#end(line, at, true)
      this.isOpen = true
      at++
    }
    for (;;) {
      const quote = line.indexOf('"', at)
      if (quote < 0) {
        this.#cell.push(line.slice(at), '\n')
        return line.length + 1
      }
      this.#cell.push(line.slice(at, quote))
      if (line[quote + 1] !== '"') {
        this.isOpen = false
        return this.#end(line, quote + 1, false)
      }
      this.#cell.push('"')
      at = quote + 2
    }
  }

  /** Drops text between a closing quote and the separator; only a line end is legal there. */
  #end(line: string, at: number, isText: boolean): number {
    const comma = line.indexOf(',', at)
    const end = comma < 0 ? line.length : comma
    const text = line.slice(at, end)
    this.cells.push(isText ? text.replace(/\r$/, '') : this.#cell.join(''))
    this.#cell = []
    return end + 1
  }
}

function objectOf(text: string, line: number): ImportRow {
  try {
    const row: unknown = JSON.parse(text)
    if (typeof row === 'object' && row !== null && !Array.isArray(row)) return row as ImportRow
  } catch {}
  throw new UsageError(`Line ${line} of the file is not a JSON object.`)
}

function tooLong(line: number): UsageError {
  return new UsageError(
    `The row at line ${line} of the file has more than ${MAX_ROW_CHARACTERS / 1024 / 1024} MiB of text. A quote that is not closed makes all lines after it one cell. Import the row without its payload, or correct the file.`,
  )
}

async function* textOf(input: Readable): AsyncGenerator<string> {
  input.setEncoding('utf8')
  let isFirst = true
  for await (const chunk of input as AsyncIterable<string>) {
    yield isFirst ? chunk.replace(/^\uFEFF/, '') : chunk // spreadsheets write a byte order mark
    isFirst = false
  }
}

const FETCH = 1_000

export async function* queryRows(url: string, select: string): AsyncGenerator<ImportRow> {
  const { default: driver } = await importOptional<{ default: typeof pg }>('pg')
  const client = new driver.Client({ connectionString: url, application_name: 'hookonce import' })
  try {
    await client.connect()
    await client.query('begin transaction read only')
    await client.query(`declare hookonce_import no scroll cursor for ${select.trim().replace(/;+$/, '')}`)
    for (;;) {
      const { rows } = await client.query<ImportRow>(`fetch ${FETCH} from hookonce_import`)
      yield* rows
      if (rows.length < FETCH) return
    }
  } catch (error) {
    throw error instanceof driver.DatabaseError
      ? new Failure(`--query failed: ${firstSentence(error)}`)
      : error
  } finally {
    await client.end().catch(() => {})
  }
}
