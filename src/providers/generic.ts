/** Sources for senders outside the catalogue: `hmac(...)`, and `unverified(...)` for deliveries without proof. */

import { invalid } from '../errors.js'
import type { Source, SourceOptions } from '../provider.js'
import type { EventRule } from '../verification/define/identity.js'
import { checkOptions } from '../verification/define/options.js'
import { defineProvider, type Field, type FieldText, hmacScheme } from '../verification/define-provider.js'
import type { DocumentRule } from '../verification/delivery/reading.js'
import type { HmacAlgorithm } from '../verification/schemes/hmac.js'
import type { SecretRule, Secrets } from '../verification/schemes/secret.js'
import type { TimestampRule } from '../verification/schemes/timestamp.js'
import { noScheme } from '../verification/schemes/token.js'

/** The fields of an event, as in `docs/adding-a-provider.md`: `json:id`, `header:x-event-id`, ... */
export interface IdentityOptions extends SourceOptions {
  /** There is no default: a wrong id loses events. With `hash`, equal bytes are one event. */
  readonly id: Field
  /** Default `json:type`. If the body is not JSON, use another field: an unreadable body is rejected. */
  readonly type?: Field
  readonly reference?: Field
  readonly each?: string
  readonly content?: 'body' | 'part' | 'none'
  readonly document?: DocumentRule
  readonly retryWindowMs?: number
  readonly name?: string
}

export interface HmacOptions extends IdentityOptions {
  readonly secret: Secrets
  /** The header with the signature. */
  readonly header: string
  /** Default `sha256`. */
  readonly algorithm?: HmacAlgorithm
  /** Default `hex`. */
  readonly encoding?: 'hex' | 'base64' | 'base64url'
  /** Before the signature, e.g. `sha256=`. */
  readonly prefix?: string
  /** Between several signatures in the header. */
  readonly separator?: string
  /** For `t=...,v1=...`: the names of both. */
  readonly pairs?: { readonly signature: string; readonly timestamp?: string }
  /** The signed content. Default `{body}`, with a timestamp `{timestamp}.{body}`. */
  readonly signed?: string
  readonly timestamp?: TimestampRule
  /** How the secret is decoded to a key. Default: its UTF-8 bytes. */
  readonly secretForm?: SecretRule
  readonly publicUrl?: string
}

const identityNames = ['id', 'type', 'reference', 'each', 'content', 'document', 'retryWindowMs', 'name']
const hmacNames = [
  'secret',
  'header',
  'algorithm',
  'encoding',
  'prefix',
  'separator',
  'pairs',
  'signed',
  'timestamp',
  'secretForm',
  'publicUrl',
]

/** Any sender that signs with a shared secret. */
export function hmac(options: HmacOptions = {} as never): Source {
  checkOptions('hmac', { ...options }, {}, [...identityNames, ...hmacNames])
  if (typeof options.header !== 'string' || options.header === '')
    throw invalid('hmac()', 'needs `header`: the name of the header with the signature')
  const { timestamp, prefix, separator, pairs } = options
  const factory = defineProvider({
    ...common('hmac', options),
    verify: hmacScheme({
      algorithm: options.algorithm ?? 'sha256',
      encoding: options.encoding ?? 'hex',
      signature: {
        in: `header:${options.header}`,
        ...(prefix === undefined ? {} : { prefix }),
        ...(separator === undefined ? {} : { separator }),
        ...(pairs === undefined ? {} : { pairs }),
      },
      signed: options.signed ?? (timestamp === undefined ? '{body}' : '{timestamp}.{body}'),
      ...(timestamp === undefined ? {} : { timestamp }),
      secret: options.secretForm ?? {},
    }),
  })
  const { secret, publicUrl } = options
  return factory({ secret, ...(publicUrl === undefined ? {} : { publicUrl }), ...sourceOptions(options) })
}

/** No check at all: anyone who knows the URL can create events. Start-up warns about it. */
export function unverified(options: IdentityOptions = {} as never): Source {
  checkOptions('unverified', { ...options }, {}, identityNames)
  return defineProvider({ ...common('unverified', options), verify: noScheme() })(sourceOptions(options))
}

function common(key: string, options: IdentityOptions) {
  if (options.id === undefined) {
    throw invalid(
      `${key}()`,
      'needs `id`: where the event id is, such as "json:id", or "hash" if equal bodies are the same event',
    )
  }
  const { reference, each, content, document } = options
  const events: EventRule = {
    id: options.id,
    type: options.type ?? 'json:type',
    ...(reference === undefined ? {} : { reference }),
    ...(each === undefined ? {} : { each }),
    ...(content === undefined ? {} : { content }),
  }
  return {
    key,
    name: options.name ?? key,
    docs: 'https://github.com/hookonce/hookonce/blob/main/docs/adding-a-provider.md',
    confidence: 'verified',
    events,
    ...(document === undefined ? {} : { document }),
    retryWindowMs: options.retryWindowMs ?? null,
    samples: { test: sampleOf(options) },
  } as const
}

/** A body with id, type and reference at the paths of the options, if these are simple JSON paths. */
function sampleOf(options: IdentityOptions): Record<string, unknown> {
  const body: Record<string, unknown> = { note: '{id}' }
  put(body, options.reference, 'ref_1')
  put(body, options.type ?? 'json:type', '{type}')
  put(body, options.id, '{id}')
  return body
}

function put(body: Record<string, unknown>, field: Field | undefined, value: string): void {
  const text = (typeof field === 'string' ? field : '') as FieldText | ''
  if (!text.startsWith('json:') || /[[\]*$^\\]/.test(text)) return
  const steps = text.slice('json:'.length).split('.')
  const last = steps.pop()!
  let here = body
  for (const step of steps) {
    here[step] ??= {}
    here = here[step] as Record<string, unknown>
  }
  here[last] = value
}

function sourceOptions(options: SourceOptions): SourceOptions {
  const { mode, conflict, contentGuard, rearm, order, toleranceMs, retention } = options
  return {
    ...(mode === undefined ? {} : { mode }),
    ...(conflict === undefined ? {} : { conflict }),
    ...(contentGuard === undefined ? {} : { contentGuard }),
    ...(rearm === undefined ? {} : { rearm }),
    ...(order === undefined ? {} : { order }),
    ...(toleranceMs === undefined ? {} : { toleranceMs }),
    ...(retention === undefined ? {} : { retention }),
  }
}
