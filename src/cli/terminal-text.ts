/**
 * Text for a terminal. Senders, payloads and servers choose some of the text that a command prints, and a terminal would
 * execute control characters in it: they move the cursor, change the title or write to the clipboard. Characters that
 * change the direction of writing could make one id look like another.
 */
import { randomBytes } from 'node:crypto'
import { styleText } from 'node:util'

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'
export type Paint = (style: Style, text: string) => string

/** Stands for ESC in painted text until it is written. Nobody outside of this process can know it. */
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

/** The columns that a painted text takes. */
export function width(text: string): number {
  return text.replace(painted, '').length
}

/** One value on one line. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\ufffd')
}

/** Every text in a value of a server or a sender, made printable. */
export function printableAll<T>(value: T): T {
  if (typeof value === 'string') return printable(value) as T
  if (Array.isArray(value)) return value.map(printableAll) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [printable(name), printableAll(inner)]),
  ) as T
}

/** The last step before text is written: only line ends and our own colours are left of the control characters. */
export function terminalText(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (char) => (char === '\n' ? char : '\ufffd'))
    .replace(painted, '\u001b$1')
}
