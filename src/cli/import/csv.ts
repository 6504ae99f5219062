/** Rows of a CSV or NDJSON stream, one at a time: an export may be larger than memory. */
import type { Readable } from 'node:stream'
import { UsageError } from '../failure.js'

/** A row by column name. An empty cell of a CSV file is null. */
export type ImportRow = Readonly<Record<string, unknown>>

export async function* csvRows(input: Readable): AsyncGenerator<ImportRow> {
  let columns: string[] | undefined
  for await (const cells of csvRecords(input)) {
    if (columns === undefined) columns = cells.map((cell) => cell.trim())
    else yield Object.fromEntries(columns.map((name, i) => [name, cells[i] || null]))
  }
}

/** RFC 4180: cells may be quoted, and hold separators, line ends and doubled quotes then. */
async function* csvRecords(input: Readable): AsyncGenerator<string[]> {
  let cells: string[] = []
  let cell = ''
  let quoted = false
  let afterQuote = false
  input.setEncoding('utf8')
  let first = true
  for await (let chunk of input as AsyncIterable<string>) {
    if (first) chunk = chunk.replace(/^\uFEFF/, '') // spreadsheets write a byte order mark
    first = false
    for (const char of chunk) {
      if (quoted && !afterQuote) {
        if (char === '"') afterQuote = true
        else cell += char
      } else if (afterQuote && char === '"') {
        cell += char
        afterQuote = false
      } else if (char === '"' && cell === '' && !quoted) {
        quoted = true
      } else if (char === ',' || char === '\n') {
        cells.push(cell.endsWith('\r') && !quoted ? cell.slice(0, -1) : cell)
        cell = ''
        quoted = false
        afterQuote = false
        if (char === '\n') {
          if (cells.length > 1 || cells[0] !== '') yield cells
          cells = []
        }
      } else if (!afterQuote) cell += char // between a closing quote and the separator only a line end may be
    }
  }
  if (quoted && !afterQuote) throw new UsageError('The CSV file ends inside a quoted cell. Is it complete?')
  if (cell !== '' || cells.length > 0) yield [...cells, cell]
}

export async function* ndjsonRows(input: Readable): AsyncGenerator<ImportRow> {
  input.setEncoding('utf8')
  let rest = ''
  let line = 0
  const parse = (text: string): ImportRow => {
    line++
    try {
      const row: unknown = JSON.parse(text)
      if (typeof row === 'object' && row !== null && !Array.isArray(row)) return row as ImportRow
    } catch {}
    throw new UsageError(`Line ${line} of the file is not a JSON object.`)
  }
  for await (const chunk of input as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()!
    for (const text of lines) if (text.trim() !== '') yield parse(text)
  }
  if (rest.trim() !== '') yield parse(rest)
}
