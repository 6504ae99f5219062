/** The provider under test with one of its secrets, and the functions that all cases use. */
import assert from 'node:assert/strict'
import type { Delivery, SchemeFacts, Source, Verification } from '../../provider.js'
import type { ProviderFactory } from '../../verification/define-provider.js'
import { fieldText } from './changes.js'

export type AnyFactory = ProviderFactory<never>

export interface ContractCase {
  readonly name: string
  /** Null if the case applies, else the fact of the provider to which it does not. */
  readonly leftOut: string | null
  run(): Promise<void>
}

export const now = Date.UTC(2026, 10, 15, 12, 0, 0)

export interface Trial {
  readonly factory: AnyFactory
  readonly credential: string
  readonly options: Readonly<Record<string, unknown>>
  readonly source: Source
  readonly scheme: SchemeFacts
  /** The field with the signature, and the list whose elements each have one. */
  readonly place: string
  readonly each: string
  make(options: Readonly<Record<string, unknown>>): Source
  signed(wanted?: { from?: Source; at?: number; type?: string; id?: string }): Promise<Delivery>
  signature(delivery: Delivery): string
  accept(delivery: Delivery, why: string, by?: Source): Promise<void>
  refuse(delivery: Delivery, why: string, by?: Source): Promise<Verification>
}

export function trialOf(factory: AnyFactory, credential: string): Trial {
  const make = (options: Readonly<Record<string, unknown>>): Source =>
    (factory as unknown as (options: Readonly<Record<string, unknown>>) => Source)(options)
  const options = factory.example(credential)
  const source = make(options)
  const place = source.scheme.signatureIn[0] ?? ''
  const each = source.scheme.each ?? ''
  return {
    factory,
    credential,
    options,
    source,
    scheme: source.scheme,
    place,
    each,
    make,
    async signed({ from = source, at = now, type = source.sampleTypes[0]!, id = sampleId(factory, 1) } = {}) {
      return from.sign(from.sample({ now: at, type, id }))
    },
    signature(delivery) {
      const text = fieldText(delivery, inEach(place, each))
      assert.ok(text !== undefined && text !== '', `${place} is in the delivery`)
      return text
    },
    async accept(delivery, why, by = source) {
      const verdict = await by.verify(delivery, { now })
      assert.ok(verdict.ok, `${why} must be accepted: ${JSON.stringify(verdict)}`)
    },
    async refuse(delivery, why, by = source) {
      const verdict = await by.verify(delivery, { now })
      assert.equal(verdict.ok, false, `${why} must be refused`)
      return verdict
    },
  }
}

export function applies(name: string, run: () => Promise<void>): ContractCase {
  return { name, leftOut: null, run }
}

/** A case that applies only if `holds`; otherwise it is listed as left out because of the fact. */
export function appliesIf(
  holds: boolean,
  fact: string,
  name: string,
  run: () => Promise<void>,
): ContractCase {
  return { name, leftOut: holds ? null : fact, run }
}

/** An id in the form of the samples, so that a numeric id stays a number. */
export function sampleId(factory: AnyFactory, nth: number): string {
  const form = factory.definition.sampleId ?? ''
  return form === 'number' ? String(700_000_000 + nth) : `${form}contract${nth}`
}

export function inEach(field: string, each: string): string {
  return field.startsWith('json:') && each !== '' ? `json:${each}.${field.slice('json:'.length)}` : field
}

/** A different value with the same length and characters. */
export function otherText(text: string): string {
  if (text === 'true' || text === 'false') return text === 'true' ? 'false' : 'true'
  const last = text.replace(/[0-9a-zA-Z](?=[^0-9a-zA-Z]*$)/, (letter) => (letter === '1' ? '2' : '1'))
  return last === text ? `${text}x` : last
}
