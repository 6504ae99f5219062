/** Numbers are changed first: a forger would change an amount, and event ids are rarely made from numbers. */
import { isDeepStrictEqual } from 'node:util'
import type { Delivery, SignOptions, Source } from '../provider.js'
import { encodePairs, isForm, parseForm } from '../verification/delivery/body-formats.js'

/** Changes one value and keeps the ids. `isCompared` is false when hookonce would not see a conflict in the change. */
export async function* conflicting(
  source: Source,
  content: SignOptions,
): AsyncGenerator<{ readonly changed: SignOptions; readonly isCompared: boolean }> {
  const bytes = Buffer.from(content.body)
  const before = source.identify(await source.sign(content))
  for (const body of changedBodies(bytes, content.headers?.['content-type'])) {
    const changed = { ...content, body }
    let signed: Delivery
    try {
      signed = await source.sign(changed)
    } catch {
      continue // some values choose the way of signing
    }
    const after = source.identify(signed)
    const sameIds = isDeepStrictEqual(after.map(idOf), before.map(idOf))
    const isCompared = !isDeepStrictEqual(after.map(contentOf), before.map(contentOf))
    if (sameIds && !bytes.equals(signed.body)) yield { changed, isCompared }
  }
}

type IdentifiedEvent = ReturnType<Source['identify']>[number]
const idOf = (event: IdentifiedEvent) => event.id
const contentOf = (event: IdentifiedEvent) => event.content

/** Changes one value after signing; null when the signature covers no value of the body. */
export async function tampered(source: Source, signed: Delivery): Promise<Delivery | null> {
  for (const body of changedBodies(signed.body, signed.headers['content-type'])) {
    const changed = { ...signed, body }
    if (!(await source.verify(changed, { now: Date.now() })).ok) return changed
  }
  return null
}

function* changedBodies(body: Uint8Array, contentType: string | undefined): Generator<Uint8Array> {
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
  if (document === undefined) {
    if (body.byteLength > 0) yield Buffer.concat([body, Buffer.from(' ')])
    return
  }
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
