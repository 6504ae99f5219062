/** The request of a kind, with or without changed fields. */
import assert from 'node:assert/strict'
import type { SignOptions } from '../../provider.js'
import type { Changes, Kind, KindBody } from '../../providers/kind.js'
import { encodePairs } from '../../verification/delivery/body-formats.js'
import type { AnyFactory } from './trial.js'

type Format = NonNullable<Kind['format']>

const contentTypes: Readonly<Record<Format, string>> = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
  xml: 'application/xml',
  text: 'text/plain; charset=utf-8',
  lines: 'application/x-ndjson',
  multipart: 'multipart/form-data; boundary=kind',
}

/** The unsigned request. `changes` are applied before the body is encoded. */
export function kindRequest(
  factory: AnyFactory,
  kind: Kind,
  now: number,
  changes: Changes = {},
): SignOptions {
  const { definition } = factory
  const format = kind.format ?? definition.format ?? 'json'
  const url = new URL(`https://example.com/webhooks/${factory.key}`)
  for (const [name, value] of Object.entries(kind.query ?? {})) url.searchParams.set(name, value)
  const headers: Record<string, string> = { ...lowerCase(kind.headers ?? {}) }
  if (kind.body !== undefined) headers['content-type'] ??= contentTypes[format]
  const { timestamp = 0, body: otherBody, ...fields } = changes
  let body: unknown = structuredClone(otherBody ?? kind.body ?? '')
  for (const [field, value] of Object.entries(fields)) {
    const [place, name] = [field.slice(0, field.indexOf(':')), field.slice(field.indexOf(':') + 1)]
    if (place === 'header') put(headers, name.toLowerCase(), value)
    else if (place === 'query') {
      if (value === undefined) url.searchParams.delete(name)
      else url.searchParams.set(name, String(value))
    } else if (place === 'text') body = replaced(body, name, String(value))
    else if (place === 'form') put(body as object, name, value)
    else if (place === 'json') putPath(body, name, value)
    else throw new TypeError(`"${field}" is not a field that a kind can change. See src/providers/kind.ts.`)
  }
  return {
    body: encode(body as KindBody, format),
    now: now + timestamp,
    method: kind.method ?? 'POST',
    url: url.href,
    headers,
  }
}

function encode(body: KindBody, format: Format): string {
  const value = encoded(body)
  if (typeof value === 'string') return value
  if (format === 'lines') return `${(value as unknown[]).map((line) => JSON.stringify(line)).join('\n')}\n`
  if (format !== 'form' && format !== 'multipart') return JSON.stringify(value)
  const pairs = Object.entries(value as object).flatMap(([name, item]) =>
    [item].flat().map((text) => [name, typeof text === 'string' ? text : JSON.stringify(text)] as const),
  )
  if (format === 'form') return encodePairs(pairs)
  const fields = pairs.map(
    ([name, item]) => `--kind\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${item}\r\n`,
  )
  return `${fields.join('')}--kind--\r\n`
}

/** Encodes `{ $base64: ... }` everywhere in a value. */
function encoded(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(encoded)
  if (typeof value !== 'object' || value === null) return value
  if ('$base64' in value) {
    const inner = encoded(value.$base64)
    return Buffer.from(typeof inner === 'string' ? inner : JSON.stringify(inner)).toString('base64')
  }
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, encoded(item)]))
}

function replaced(body: unknown, old: string, by: string): unknown {
  assert.ok(typeof body === 'string' && body.includes(old), `"${old}" is in the body`)
  return body.replaceAll(old, by)
}

function putPath(body: unknown, path: string, value: unknown): void {
  const steps = path.split(/(?<!\\)\./).map((step) => step.replaceAll('\\.', '.'))
  const last = steps.pop()!
  let here = body
  for (const step of steps) {
    const members = here as Record<string, unknown>
    assert.ok(typeof members === 'object' && members !== null && step in members, `${path}: ${step} is there`)
    here = members[step]
  }
  put(here as object, last, value)
}

function put(members: object, name: string, value: unknown): void {
  assert.ok(typeof members === 'object' && members !== null, `${name}: it is in an object`)
  const target = members as Record<string, unknown>
  if (value !== undefined) target[name] = value
  else if (Array.isArray(members)) members.splice(Number(name), 1)
  else delete target[name]
}

function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}
