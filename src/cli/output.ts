/** Results go to standard output, with `--json` as one line of JSON each. Messages go to standard error. */
import { jsonText, tolerateErrors } from '../log.js'
import { type Paint, painter, printable, terminalText, width } from './terminal-text.js'

export interface Output {
  readonly json: boolean
  /** Standard output is a terminal and shows text, not JSON. */
  readonly terminal: boolean
  /** Prints `value` with --json, else `text`. */
  result(value: unknown, text: (paint: Paint) => string): void
  /** A message on standard error. */
  say(text: string | ((paint: Paint) => string)): void
  /** A line on standard error that the next output replaces; printed on a terminal only. */
  progress(text: string | null): void
}

export function createOutput(json: boolean): Output {
  const paintOut = painter(process.stdout)
  const paintErr = painter(process.stderr)
  let progressShown = false
  const clear = () => {
    if (progressShown) process.stderr.write('\r\u001b[2K')
    progressShown = false
  }
  return {
    json,
    terminal: process.stdout.isTTY === true && !json,
    result(value, text) {
      clear()
      writeTo(process.stdout, json ? `${jsonText(value)}\n` : line(text(paintOut)))
    },
    say(text) {
      clear()
      writeTo(process.stderr, line(typeof text === 'string' ? text : text(paintErr)))
    },
    progress(text) {
      if (!process.stderr.isTTY) return
      clear()
      if (text === null) return
      process.stderr.write(terminalText(text))
      progressShown = true
    },
  }
}

function line(text: string): string {
  const safe = terminalText(text)
  return safe === '' || safe.endsWith('\n') ? safe : `${safe}\n`
}

export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = []
  for (const row of rows) {
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, width(cell))
  }
  return rows
    .map((row) =>
      row
        .map((cell, index) =>
          index === row.length - 1 ? cell : cell + ' '.repeat(widths[index]! - width(cell)),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** The columns have fixed widths, because later lines of the stream are not known yet. */
export function streamLine(
  paint: Paint,
  [time, source, type, id]: readonly [string, string, string, string],
  ...rest: readonly string[]
): string {
  const cells = [source.padEnd(12), type.padEnd(24), id.padEnd(28)]
  return [paint('dim', time), ...cells.map(printable), ...rest].join('  ')
}

/** `1 delivery`, `2 deliveries`. */
export function counted(count: number, singular: string, plural: string): string {
  return `${count} ${count === 1 ? singular : plural}`
}

/** `postgres:hookonce` becomes `PostgreSQL, schema hookonce`. */
export function storeTitle(name: string): string {
  return name.replace(/^postgres:(\w+)$/, 'PostgreSQL, schema $1')
}

/** A server continues when its output cannot be written. */
let serving = false

export function surviveOutputErrors(): void {
  serving = true
}

/** A reader that has stopped reading costs a server at most this much memory. */
const MAX_BUFFERED_BYTES = 1024 * 1024

export function writeTo(stream: NodeJS.WriteStream, text: string): void {
  if (serving && (stream.destroyed || stream.writableLength > MAX_BUFFERED_BYTES)) return
  stream.write(text)
}

/** A server that ends waits this long for a reader that has stopped reading. */
const FLUSH_MS = 2_000

/**
 * A command ends when the reader of its result ends (`hookonce events export | head`), and fails when the disk is full.
 * Messages on standard error may be lost.
 */
export function watchStreams(): void {
  tolerateErrors(process.stderr)
  process.stdout.on('error', onResultLost)
}

function onResultLost(error: NodeJS.ErrnoException): void {
  if (serving) return
  if (error.code === 'EPIPE') process.exit(process.exitCode ?? 0)
  process.stderr.write(`hookonce: the result could not be written: ${error.code ?? error.message}\n`)
  process.exit(1)
}

/** A pool or a timer of a configuration, or the channel to a parent process, would keep the process running. */
export function exitWhenFlushed(): void {
  if (serving) setTimeout(() => process.exit(), FLUSH_MS)
  process.stdout.write('', () => {
    // The event 'error' may come later than this callback.
    if (process.stdout.errored) onResultLost(process.stdout.errored)
    process.stderr.write('', () => process.exit())
  })
}
