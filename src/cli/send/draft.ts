import { parseJson } from '../../check/change.js'
import { defined } from '../../options.js'
import type { SignOptions, Source } from '../../provider.js'
import { UsageError } from '../failure.js'
import { readInput } from '../options.js'

interface DraftOptions {
  readonly id?: string
  readonly set?: readonly string[]
  /** A file name. */
  readonly body?: string
}

export function draftOf(source: Source, type: string | undefined, options: DraftOptions): SignOptions {
  const { id, set: changes = [] } = options
  const sample = source.sample({ now: Date.now(), ...defined({ type, id }) })
  const body = options.body === undefined ? sample.body : readInput('--body', options.body)
  return { ...sample, body: changes.length === 0 ? body : withChanges(body, changes) }
}

/** `data.object.amount=5`: the value is parsed as JSON if possible, else it is text. */
function withChanges(body: Uint8Array | string, changes: readonly string[]): string {
  const document = parseJson(Buffer.from(body))
  if (typeof document !== 'object' || document === null)
    throw new UsageError(
      '--set works only on JSON bodies, and this body is not JSON. Use --body to send a file.',
    )
  for (const change of changes) {
    const equals = change.indexOf('=')
    if (equals < 1)
      throw new UsageError(
        `--set must be written as path=value, such as data.object.amount=5, not ${change}.`,
      )
    setPath(
      document as Record<string, unknown>,
      change.slice(0, equals).split('.'),
      parseValue(change.slice(equals + 1)),
    )
  }
  return JSON.stringify(document)
}

function setPath(document: Record<string, unknown>, path: readonly string[], to: unknown): void {
  let object = document
  for (const step of path.slice(0, -1)) {
    if (typeof object[step] !== 'object' || object[step] === null) define(object, step, {})
    object = object[step] as Record<string, unknown>
  }
  define(object, path.at(-1)!, to)
}

/** A path with `__proto__` must not change the prototype. */
function define(object: Record<string, unknown>, name: string, to: unknown): void {
  Object.defineProperty(object, name, { value: to, writable: true, enumerable: true, configurable: true })
}

function parseValue(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
