/**
 * What a command says, and where: results on standard output, words about them on standard error. With `--json`
 * results are JSON, one value a line, and nothing else is on standard output.
 */
import * as util from 'node:util'
import { put } from './streams.js'

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'
export type Paint = (style: Style, text: string) => string

export interface Output {
  readonly json: boolean
  /** A person is looking at standard output. */
  readonly terminal: boolean
  /** A result: `value` with --json, else the text `words` makes of it. */
  result(value: unknown, words: (paint: Paint) => string): void
  /** Words on standard error. */
  say(words: string | ((paint: Paint) => string)): void
  /** A line on standard error that the next one replaces; nothing when no person is looking. */
  progress(words: string | null): void
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
    result(value, words) {
      clear()
      put(process.stdout, json ? `${JSON.stringify(value)}\n` : line(words(paintOut)))
    },
    say(words) {
      clear()
      put(process.stderr, line(typeof words === 'string' ? words : words(paintErr)))
    },
    progress(words) {
      if (!process.stderr.isTTY) return
      clear()
      if (words === null) return
      process.stderr.write(words)
      progressShown = true
    },
  }
}

/** Colours only where a person looks at them, and never with NO_COLOR (no-color.org: set to anything but nothing). */
export function painter(stream: { readonly isTTY?: boolean }): Paint {
  const wanted = stream.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== 'dumb'
  // Missing before Node 20.12.
  if (!wanted || typeof util.styleText !== 'function') return (_, text) => text
  return (style, text) => util.styleText(style, text)
}

/** Rows as columns: each as wide as its widest cell, the last as wide as it likes. */
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

/**
 * Text from a sender, fit for a terminal: control characters could move the cursor or change the title, and the marks
 * that turn writing round could make one id look like another.
 */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\ufffd')
}

/** `postgres:hookonce` is how the code names a store; people read `PostgreSQL, schema hookonce`. */
export function storeWords(name: string): string {
  return name.replace(/^postgres:(\w+)$/, 'PostgreSQL, schema $1')
}

function width(text: string): number {
  return util.stripVTControlCharacters(text).length
}

function line(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}
