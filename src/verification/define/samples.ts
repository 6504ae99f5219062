/** Sample deliveries: realistic bodies with holes for id, type and time, for tests and the command line. */
import { randomUUID } from 'node:crypto'
import type { SampleOptions, SignOptions } from '../../provider.js'
import { encodePairs } from '../delivery/body-formats.js'

/**
 * Holes: `{id}`, `{id:number}`, `{type}`, `{now:s}`, `{now:ms}`, `{now:iso}`. A text that is one hole with a number
 * becomes a number. `{ $base64: text }` becomes the base64 of the filled text.
 */
export type SampleBody = string | readonly unknown[] | { readonly [name: string]: unknown }

/** By event type; the first is the default. A string is sent unchanged, a form is a flat object. */
export type Samples = Readonly<Record<string, SampleBody>>

export interface SampleRules {
  readonly samples: Samples
  readonly format: 'json' | 'form' | 'xml' | 'text'
  /** The form of an id: a prefix, or `number`. */
  readonly idForm: string
  readonly headers: Readonly<Record<string, string>>
  readonly url: string
  /** Writes the name of the source into a body, for a sender whose deliveries must name their receiver. */
  address(sample: unknown): void
}

const contentTypes = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
  xml: 'application/xml',
  text: 'text/plain; charset=utf-8',
} as const

export function makeSample(rules: SampleRules, options: SampleOptions): SignOptions {
  const type = options.type ?? Object.keys(rules.samples)[0] ?? 'test'
  const id = options.id ?? freshId(rules.idForm)
  const fill = (value: unknown) => fillHoles(value, { id, type, now: options.now })
  const sample = fill(sampleOf(rules.samples, type))
  rules.address(sample)
  const headers: Record<string, string> = { 'content-type': contentTypes[rules.format] }
  for (const [name, value] of Object.entries(rules.headers)) headers[name.toLowerCase()] = String(fill(value))
  return {
    body: encodeSample(sample, rules.format),
    now: options.now,
    method: 'POST',
    url: rules.url,
    id,
    type,
    headers,
  }
}

/** The sample of this type, of another type that begins with it (`issues`: `issues.opened`), or the first one. */
function sampleOf(samples: Samples, type: string): SampleBody {
  const similar = Object.keys(samples).find((name) => name.startsWith(`${type}.`))
  return samples[type] ?? samples[similar ?? Object.keys(samples)[0]!] ?? {}
}

function encodeSample(sample: unknown, format: SampleRules['format']): string {
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
