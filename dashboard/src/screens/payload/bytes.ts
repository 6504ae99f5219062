/** The bytes of a payload: decoded, hashed, parsed. Nothing here makes markup of them. */

export interface Content {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly text: string
  readonly isUtf8: boolean
  readonly json: Json | undefined
}

export type Json =
  | null
  | boolean
  | number
  | string
  | ExactNumber
  | readonly Json[]
  | { readonly [key: string]: Json }

/** A number as it was sent, where JavaScript would round it. */
export class ExactNumber {
  readonly source: string
  constructor(source: string) {
    this.source = source
  }
}

export function contentOf(base64: string): Content {
  const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
  let text: string
  let isUtf8 = true
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    isUtf8 = false
    text = new TextDecoder('utf-8').decode(bytes)
  }
  return { bytes, text, isUtf8, json: isUtf8 ? parse(text) : undefined }
}

function exact(this: unknown, _key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || context?.source === undefined) return value
  return String(value) === context.source ? value : new ExactNumber(context.source)
}

/** Undefined when it is not JSON. */
export function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text, exact) as Json
  } catch (error) {
    // A very deep value is too much for the function above, but not for the parser.
    if (!(error instanceof RangeError)) return undefined
  }
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

/** Where the text stops being JSON, in the words of the browser. Null when it is JSON. */
export function jsonProblem(text: string): string | null {
  try {
    JSON.parse(text)
    return null
  } catch (error) {
    return (error as Error).message.slice(0, 300)
  }
}

/** In hex; null where the browser does not offer it, which is on an insecure origin. */
export async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string | null> {
  if (!globalThis.crypto?.subtle) return null
  const digest = await crypto.subtle.digest('SHA-256', bytes)
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

const LINE = 160

/** Lines short enough to lay out at once: one line of a megabyte would stop the page. */
export function linesOf(text: string): string[] {
  const lines: string[] = []
  for (const line of text.split('\n')) {
    if (line.length <= LINE) {
      lines.push(line)
      continue
    }
    for (let at = 0; at < line.length; ) {
      let end = Math.min(line.length, at + LINE)
      // A pair of surrogates is one character.
      if (end < line.length && /[\ud800-\udbff]/.test(line[end - 1]!)) end++
      lines.push(line.slice(at, end))
      at = end
    }
  }
  return lines
}

const HEX_ROW = 16

export function hexRows(bytes: Uint8Array): number {
  return Math.ceil(bytes.length / HEX_ROW)
}

export function hexRow(bytes: Uint8Array, row: number): string {
  const part = bytes.subarray(row * HEX_ROW, (row + 1) * HEX_ROW)
  const hex = [...part].map((byte) => byte.toString(16).padStart(2, '0'))
  const ascii = [...part].map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : '.')).join('')
  const left = hex.slice(0, 8).join(' ').padEnd(23)
  const right = hex.slice(8).join(' ').padEnd(23)
  return `${(row * HEX_ROW).toString(16).padStart(8, '0')}  ${left}  ${right}  ${ascii}`
}
