/**
 * Writes a delivery as a curl command that can be pasted into any shell. A sender chooses the body and some headers.
 * Control characters would end a bracketed paste and run the rest as commands, and shells differ in the end of a quoted
 * text. So only plain text is written out: other headers become octal escapes, and another body is piped in as base64.
 *
 * The dashboard is built from this file as well, so it uses nothing of Node.
 */
export interface CurlRequest {
  readonly method?: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Null when the body is not UTF-8. */
  readonly text: string | null
  readonly base64: string
}

export function curlCommand({ method, url, headers, text, base64 }: CurlRequest): string {
  const words = [`curl ${method === undefined ? '' : `-X ${word(method)} `}${word(url)}`]
  for (const [name, value] of Object.entries(headers)) {
    // A header that starts with @ would be a file that curl reads.
    if (/^[\w!#$%&'*+.^`|~-]+$/.test(name)) words.push(`-H ${word(`${name}: ${value}`)}`)
  }
  if (text !== null && plain.test(text)) return [...words, `--data-raw '${text}'`].join(' \\\n  ')
  return `printf %s '${base64}' | base64 -d | ${[...words, '--data-binary @-'].join(' \\\n  ')}`
}

/** No character here ends or continues a quoted text in a POSIX shell, fish, PowerShell or cmd. */
const plain = /^[\w {}[\]":,./@+=?#()*;~-]*$/

/** Only bash, zsh and POSIX.1-2024 know `$'...'`; another shell reports an error. */
function word(text: string): string {
  if (plain.test(text)) return `'${text}'`
  const bytes = [...text].flatMap((char) => [...octets(char)])
  const safe = (byte: number) => /[\w :,./@+=-]/.test(String.fromCharCode(byte))
  return `$'${bytes.map((byte) => (safe(byte) ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, '0')}`)).join('')}'`
}

/** Each character of a header is one byte; other texts are UTF-8. */
function octets(char: string): Iterable<number> {
  const code = char.codePointAt(0)!
  return code < 0x100 ? [code] : new TextEncoder().encode(char)
}
