/** Sample deliveries: realistic bodies with holes for id, type and time, for tests and the command line. */
import { randomUUID } from 'node:crypto'
import type { SampleOptions, SignOptions } from '../../provider.js'
import { encodePairs } from '../delivery/body-formats.js'
import type { Compiler } from '../delivery/compile.js'
import { type Field, isList } from '../delivery/field.js'
import { putJson, stepsOf, walk } from '../delivery/put.js'
import type { ProviderDefinition } from './definition.js'
import type { EventRule } from './identity.js'
import type { Receiver } from './receiver.js'

/**
 * Holes: `{id}`, `{id:number}`, `{type}`, `{now:s}`, `{now:ms}`, `{now:iso}`. A text that is one hole with a number
 * becomes a number. `{ $base64: text }` becomes the base64 of the filled text.
 */
export type SampleBody = string | readonly unknown[] | { readonly [name: string]: unknown }

/** By event type; the first is the default. A string is sent unchanged, a form is a flat object. */
export type Samples = Readonly<Record<string, SampleBody>>

const contentTypes = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
  xml: 'application/xml',
  text: 'text/plain; charset=utf-8',
} as const

export type SampleFormat = keyof typeof contentTypes

export function makeSample(
  definition: ProviderDefinition,
  compiler: Compiler,
  receiver: Receiver,
  { now, ...wanted }: SampleOptions,
): SignOptions {
  const { samples, format = 'json', sampleId = '', sampleHeaders = {} } = definition
  const type = wanted.type ?? Object.keys(samples)[0] ?? 'test'
  const id = wanted.id ?? freshId(sampleId)
  const fill = (value: unknown) => fillHoles(value, { id, type, now })
  const sample = fill(samples[nearestSample(Object.keys(samples), type)] ?? {})
  if (samples[type] === undefined) writeType(definition, sample, type)
  receiver.address(sample)
  const headers: Record<string, string> = { 'content-type': contentTypes[format] }
  for (const [name, value] of Object.entries(sampleHeaders)) {
    headers[compiler.fill(name).toLowerCase()] = String(fill(compiler.fill(value)))
  }
  const body = encodeSample(sample, format)
  return { body, now, method: 'POST', url: sampleUrl(definition), id, type, headers }
}

export function sampleUrl({ key }: ProviderDefinition): string {
  return `https://example.com/webhooks/${key}`
}

/**
 * The type itself, else the one that has most parts in common with it: `customer.updated` is most like `customer.created`.
 * Without any, the first.
 */
function nearestSample(types: readonly string[], type: string): string {
  let nearest = types[0] ?? type
  let most = 0
  for (const candidate of types) {
    const common = candidate === type ? Number.POSITIVE_INFINITY : commonParts(candidate, type)
    if (common > most) [nearest, most] = [candidate, common]
  }
  return nearest
}

export function commonParts(a: string, b: string): number {
  const [one, other] = [partsOf(a), partsOf(b)]
  const end = one.findIndex((part, i) => part !== other[i])
  return end < 0 ? one.length : end
}

const partsOf = (type: string) => type.split(/[^A-Za-z0-9]+/)

/** Where the rule reads the type of an event from JSON, the type is written there. */
function writeType({ events, format = 'json' }: ProviderDefinition, sample: unknown, type: string): void {
  const [rule] = [events].flat() as readonly EventRule[]
  if (rule?.type === undefined || typeof sample !== 'object' || format !== 'json') return
  const parts = rule.each === undefined ? [sample] : walk(sample, stepsOf(rule.each))
  for (const [path, text] of placesOf(rule.type, type) ?? []) {
    if (path.startsWith('$.')) putJson(sample, path.slice(2), text)
    else for (const part of parts) putJson(part, path, text)
  }
}

type Places = readonly (readonly [path: string, text: string])[]

/** Null: the type of an event cannot be this text, or not by a text in the body. */
function placesOf(field: Field, text: string): Places | null {
  if (typeof field === 'string') {
    const path = /^json:((?:\$\.)?[\w.-]+)$/.exec(field)?.[1]
    if (path !== undefined) return [[path, text]]
    return field.startsWith('header:') || field === `const:${text}` ? [] : null
  }
  if (isList(field)) {
    const [first = null] = field.map((one) => placesOf(one, text)).filter((places) => places !== null)
    return first
  }
  if ('optional' in field) return placesOf(field.optional, text)
  if (!('combination' in field) || field.combination !== 'join' || !field.separator) return null
  const { fields, separator } = field
  const texts = text.split(separator)
  const last = fields.length - 1
  const places = fields.map((part, i) => {
    const own = i < last ? texts[i] : texts.slice(last).join(separator)
    return own === undefined || own === '' ? [] : placesOf(part, own)
  })
  return places.some((found) => found === null) ? null : places.flatMap((found) => found!)
}

function encodeSample(sample: unknown, format: SampleFormat): string {
  if (typeof sample === 'string') return sample
  if (format !== 'form') return JSON.stringify(sample)
  const pairs = Object.entries(sample as Record<string, unknown>)
  return encodePairs(
    pairs.map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  )
}

function freshId(form: string): string {
  if (form === 'number') return String(100_000_000 + Math.floor(Math.random() * 900_000_000))
  const random = randomUUID()
  return form === '' ? random : form + random.replaceAll('-', '').slice(0, 24)
}

interface Holes {
  readonly id: string
  readonly type: string
  readonly now: number
}

const numberHoles = new Set(['{id:number}', '{now:s}', '{now:ms}'])

function fillHoles(value: unknown, holes: Holes): unknown {
  if (typeof value === 'string') {
    const text = value.replace(/\{(id|id:number|type|now:s|now:ms|now:iso)\}/g, (_, name: string) =>
      hole(name, holes),
    )
    return numberHoles.has(value) && /^\d{1,15}$/.test(text) ? Number(text) : text
  }
  if (Array.isArray(value)) return value.map((item) => fillHoles(item, holes))
  if (typeof value !== 'object' || value === null) return value
  if ('$base64' in value) return Buffer.from(String(fillHoles(value.$base64, holes))).toString('base64')
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, fillHoles(item, holes)]))
}

function hole(name: string, { id, type, now }: Holes): string {
  if (name === 'type') return type
  if (name === 'now:s') return String(Math.floor(now / 1_000))
  if (name === 'now:ms') return String(now)
  return name === 'now:iso' ? new Date(now).toISOString() : id
}
