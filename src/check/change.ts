/** Numbers are changed first: a forger would change an amount, and event ids are rarely made from numbers. */
import { encodePairs, isForm, parseForm } from '../verification/delivery/body-formats.js'

/** Each differs in one value. None when the body is neither JSON nor a form. */
export function* changedBodies(body: Uint8Array, contentType: string | undefined): Generator<Uint8Array> {
  if (isForm(contentType)) {
    const pairs = parseForm(body) ?? []
    for (const [index, [, value]] of pairs.entries()) {
      const other = pairs.map(([name, text], i): [string, string] => [
        name,
        i === index ? otherText(value) : text,
      ])
      yield Buffer.from(encodePairs(other))
    }
    return
  }
  const document = parseJson(body)
  if (document === undefined) return
  for (const kind of ['number', 'string'] as const) {
    for (const { holder, key } of leaves(document, kind)) {
      const before = holder[key]
      holder[key] = typeof before === 'number' ? before + 1 : otherText(String(before))
      yield Buffer.from(JSON.stringify(document))
      holder[key] = before
    }
  }
}

/** Undefined when the body is not JSON. */
export function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    return undefined
  }
}

function otherText(text: string): string {
  return `${text}x`
}

interface Leaf {
  readonly holder: Record<string, unknown>
  readonly key: string
}

function leaves(value: unknown, kind: 'number' | 'string'): Leaf[] {
  if (typeof value !== 'object' || value === null) return []
  const holder = value as Record<string, unknown>
  return Object.keys(holder).flatMap((key) =>
    typeof holder[key] === kind ? [{ holder, key }] : leaves(holder[key], kind),
  )
}
