/** An answer of a sender's API, or a part of it, as bytes: numbers keep all their digits (ids of 64 bits). */
import { type JsonQuery, jsonQuery } from '../json.js'

const queries = new Map<string, JsonQuery>()

export class ApiJson {
  readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  get isJson(): boolean {
    return this.#find('') !== undefined
  }

  /** The elements at a path with `[]`, such as `data[]`; empty when there is no list. */
  each(path: string): ApiJson[] {
    return this.#all(path).map(({ start, end }) => new ApiJson(this.bytes.subarray(start, end)))
  }

  /** Whether there is a list at a path, empty or not. */
  hasList(path: string): boolean {
    return this.#find(path)?.kind === 'array'
  }

  /** A text or a number. Undefined: absent, null, or something else. */
  text(path: string): string | undefined {
    const token = this.#find(path)
    return token?.kind === 'string' || token?.kind === 'number' ? token.text : undefined
  }

  isTrue(path: string): boolean {
    const token = this.#find(path)
    return token?.kind === 'boolean' && token.text === 'true'
  }

  /** An object or a list. */
  part(path: string): ApiJson | undefined {
    const token = this.#find(path)
    if (token?.kind !== 'object' && token?.kind !== 'array') return undefined
    return new ApiJson(this.bytes.subarray(token.start, token.end))
  }

  /** Seconds since 1970 (`s`), milliseconds (`ms`), or ISO 8601 text, in UTC if it has no zone. Undefined when it is no time. */
  time(path: string, unit: 's' | 'ms' | 'iso'): number | undefined {
    const text = this.text(path)
    if (text === undefined) return undefined
    const hasZone = /(Z|[+-]\d\d:?\d\d)$/i.test(text)
    const at =
      unit === 'iso' ? Date.parse(hasZone ? text : `${text}Z`) : Number(text) * (unit === 's' ? 1_000 : 1)
    return Number.isFinite(at) ? at : undefined
  }

  /** Loses digits of large numbers. */
  parse(): unknown {
    return JSON.parse(Buffer.from(this.bytes).toString('utf8'))
  }

  #find(path: string) {
    return this.#all(path)[0]
  }

  #all(path: string) {
    let query = queries.get(path)
    if (query === undefined) {
      query = jsonQuery([path])
      queries.set(path, query)
    }
    const result = query.read(this.bytes)
    return result.ok ? result.values[0]! : []
  }
}
