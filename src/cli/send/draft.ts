import { isDeepStrictEqual } from 'node:util'
import type { Delivery, SignOptions, Source } from '../../provider.js'
import { Failure, UsageError } from '../failure.js'
import { defined, readInput } from '../options.js'

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
  const document = parseJson(body)
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

/** Undefined when the body is not JSON. */
function parseJson(body: Uint8Array | string): unknown {
  try {
    return JSON.parse(typeof body === 'string' ? body : Buffer.from(body).toString('utf8'))
  } catch {
    return undefined
  }
}

/** The same event ids with other content. A sender should not do this, but some do. */
export async function conflicting(source: Source, draft: SignOptions): Promise<SignOptions> {
  const before = source.identify(await source.sign(draft))
  for (const body of variants(draft.body)) {
    const changed = { ...draft, body }
    const after = source.identify(await source.sign(changed))
    const sameIds = isDeepStrictEqual(ids(before), ids(after))
    const otherContent = after.some(
      ({ content }, index) => !isDeepStrictEqual(content, before[index]?.content),
    )
    if (sameIds && otherContent) return changed
  }
  throw new Failure(
    `--conflict is not possible for ${source.name}: its event id is derived from the content, or its content is not compared.`,
  )
}

/** The smallest change that the signature detects: a space if it covers the bytes, else a changed value. */
export async function tampered(source: Source, delivery: Delivery): Promise<Delivery> {
  const text = Buffer.from(delivery.body).toString('utf8')
  for (const body of [`${text} `, ...variants(text)]) {
    const changed = { ...delivery, body: Buffer.from(body) }
    if (!(await source.verify(changed, { now: Date.now() })).ok) return changed
  }
  throw new UsageError(
    `--tamper is not possible for ${source.name}: it does not sign the body, so a changed body cannot be detected.`,
  )
}

function* variants(body: Uint8Array | string): Generator<string> {
  const document = parseJson(body)
  if (typeof document === 'object' && document !== null) {
    const objects = [document, ...Object.values(document).flat()]
    for (const object of objects) {
      if (typeof object !== 'object' || object === null || Array.isArray(object)) continue
      define(object as Record<string, unknown>, 'changed_by_hookonce', true)
      yield JSON.stringify(document)
    }
  } else {
    const text = typeof body === 'string' ? body : Buffer.from(body).toString('utf8')
    yield `${text}&changed_by_hookonce=true`
    yield `${text} `
  }
}

function ids(events: readonly { readonly id: string }[]): string[] {
  return events.map(({ id }) => id)
}
