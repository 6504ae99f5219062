/** Sample deliveries: realistic bodies with holes for id, type and time, for tests and the command line. */
import { randomUUID } from 'node:crypto'
import type { SampleOptions, SignOptions } from '../../provider.js'
import { encodePairs } from '../delivery/body-formats.js'
import type { Compiler } from '../delivery/compile.js'
import type { ProviderDefinition } from './definition.js'
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
  const sample = fill(sampleOf(samples, type))
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

/** The type `issues` also finds the sample of `issues.opened`. */
function sampleOf(samples: Samples, type: string): SampleBody {
  const similar = Object.keys(samples).find((name) => name.startsWith(`${type}.`))
  return samples[type] ?? samples[similar ?? Object.keys(samples)[0]!] ?? {}
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
