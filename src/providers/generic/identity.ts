/** The options that all sources of unknown senders share: the fields of an event and the settings of a source. */
import type { Duration } from '../../duration.js'
import { invalid } from '../../errors.js'
import { checkedMs } from '../../options.js'
import type { SourceOptions } from '../../provider.js'
import type { EventRule } from '../../verification/define/identity.js'
import type { SampleBody } from '../../verification/define/samples.js'
import type { Field } from '../../verification/define-provider.js'
import { leaves } from '../../verification/delivery/field.js'
import { putJson, stepsOf } from '../../verification/delivery/put.js'
import type { DocumentRule } from '../../verification/delivery/reading.js'

/** The fields of an event, as in `docs/unknown-senders.md`: `json:id`, `header:x-event-id`, ... */
export interface IdentityOptions extends SourceOptions {
  /** There is no default: a wrong id loses events. With `hash`, equal bytes are one event. */
  readonly id: Field
  /** Default `json:type`. If the body is not JSON, use another field: an unreadable body is rejected. */
  readonly type?: Field
  /** The object that the event is about. Default: none. */
  readonly reference?: Field
  /** The list of events of a delivery, such as `events[]`. The other fields are then relative to an element. */
  readonly each?: string
  /** The bytes that must be equal on a retry. Default `body`, with `each` `part`. `none`: the sender changes them. */
  readonly content?: 'body' | 'part' | 'none'
  /** The place of the JSON document, if it is not the body: a form field, a part, one document per line. */
  readonly document?: DocumentRule
  /** The sender retries for so long, if that is known. */
  readonly retryWindow?: Duration
  /** The sender's name, for people. */
  readonly name?: string
}

export const identityNames: readonly string[] = [
  'id',
  'type',
  'reference',
  'each',
  'content',
  'document',
  'retryWindow',
  'name',
]

/** The rules of a definition, without `verify`. */
export function identityRules(key: string, options: IdentityOptions) {
  if (options.id === undefined) {
    throw invalid(
      `${key}()`,
      'needs `id`: where the event id is, such as "json:id", or "hash" if equal bodies are the same event',
    )
  }
  const { reference, each, content, document, retryWindow } = options
  if (each !== undefined && !(typeof each === 'string' && each.includes('[]'))) {
    throw invalid(`${key}()`, 'needs `each` to be the path of a list, such as "events[]", or "[]"')
  }
  const events: EventRule = {
    id: options.id,
    type: options.type ?? 'json:type',
    ...given({ reference, each, content }),
  }
  return {
    key,
    name: options.name ?? key,
    docs: 'https://www.npmjs.com/package/hookonce',
    confidence: 'verified',
    events,
    ...given({ document }),
    retryWindowMs: retryWindow === undefined ? null : checkedMs(`${key}(): \`retryWindow\``, retryWindow, 0),
    samples: { test: sampleOf(options) },
  } as const
}

export function sourceOptions(options: SourceOptions): SourceOptions {
  const { mode, conflict, contentGuard, rearm, order, references, tolerance, retention } = options
  return given({ mode, conflict, contentGuard, rearm, order, references, tolerance, retention })
}

type Given<T> = { readonly [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  readonly [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

/** The members that are not undefined. */
export function given<T extends object>(options: T): Given<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Given<T>
}

type Members = Record<string, unknown>

/** A body with id, type and reference at the paths of the options, if these are simple JSON paths. */
function sampleOf(options: IdentityOptions): SampleBody {
  const event: Members = { note: '{id}' }
  const [body, root] = wrapped(event, options.each)
  // The type comes last: an id may be made of several fields, and the type be one of them.
  for (const field of fieldsOf(options.reference)) put(event, root, field, 'ref_1')
  for (const field of fieldsOf(options.id)) put(event, root, field, '{id}')
  for (const field of fieldsOf(options.type ?? 'json:type')) put(event, root, field, '{type}')
  return body as SampleBody
}

/** The document around an event, and the object at its root, if that is an object. */
function wrapped(event: Members, each: string | undefined): readonly [unknown, Members | null] {
  if (each === undefined) return [event, event]
  let body: unknown = event
  for (const step of stepsOf(each).reverse()) body = step === '[]' ? [body] : { [step]: body }
  return [body, Array.isArray(body) ? null : (body as Members)]
}

/** The fields to fill in: of alternatives the first, of a combination all. */
function fieldsOf(field: Field | undefined): readonly string[] {
  if (field === undefined) return []
  if (Array.isArray(field)) return fieldsOf(field[0] as Field | undefined)
  return leaves(field)
}

function put(event: Members, root: Members | null, field: string, value: string): void {
  if (!field.startsWith('json:')) return
  const atRoot = field.startsWith('json:$.')
  const path = field.slice(atRoot ? 'json:$.'.length : 'json:'.length)
  const target = atRoot ? root : event
  if (target !== null && path !== '' && !/[[\]*$^\\]/.test(path)) putJson(target, path, value)
}
