/**
 * Senders and servers choose some of the text that a command prints. A terminal executes control characters: they move
 * the cursor or write to the clipboard. Characters that change the direction of writing make one id look like another.
 */
import { randomBytes } from 'node:crypto'
import { styleText } from 'node:util'

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'
export type Paint = (style: Style, text: string) => string

/** Stands for ESC until the text is written. It is random, so no sender can write it into an event. */
const MARK = `\ufdd0${randomBytes(12).toString('hex')}`
const painted = new RegExp(`${MARK}(\\[\\d+m)`, 'g')

/** Colours on a terminal only, and not when NO_COLOR is set to a text (no-color.org). */
export function painter(stream: { readonly isTTY?: boolean }): Paint {
  const wanted = stream.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== 'dumb'
  if (!wanted) return (_, text) => text
  return (style, text) => {
    const [open, close] = styleText(style, '\0').split('\0')
    return `${marked(open)}${text}${marked(close)}`
  }
}

function marked(code = ''): string {
  return code.replace('\u001b', MARK)
}

export function width(text: string): number {
  return text.replace(painted, '').length
}

export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\ufffd')
}

export function printableAll<T>(value: T): T {
  if (typeof value === 'string') return printable(value) as T
  if (Array.isArray(value)) return value.map(printableAll) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [printable(name), printableAll(inner)]),
  ) as T
}

/** Removes every control character except line ends and our own colours. */
export function terminalText(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (char) => (char === '\n' ? char : '\ufffd'))
    .replace(painted, '\u001b$1')
}
