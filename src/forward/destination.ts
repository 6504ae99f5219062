/** The options of a destination. They are checked when it is added: an error stops the start and not an event. */
import { type Duration, msOf } from '../duration.js'
import { HookonceError, invalid, isHookonceError } from '../errors.js'
import { hintOf } from '../nearest.js'
import {
  anyText,
  callable,
  checkOptions,
  duration,
  either,
  listOf,
  MAX_TIMER_MS,
  mapOf,
  numberAbove,
  off,
  type Rule,
  required,
  rule,
  shape,
  text,
  whole,
} from '../options.js'
import { checkRetry, defaultRetry, type RetryPolicy, retryRule } from '../processing/failure.js'
import type { ConsumerStart } from '../processing/handler.js'
import { fromRule } from '../processing/registry.js'
import type { Source } from '../provider.js'
import { standardWebhooks } from '../providers/standard-webhooks.js'
import { allowList } from './address.js'
import { checkUrl } from './guard.js'

export interface Destination {
  /** https, or http for a private network. */
  readonly url: string
  /** `whsec_...`: signs each request as a Standard Webhook. With several secrets (for rotation) each of them signs. */
  readonly secret: string | readonly string[] | (() => string | readonly string[])
  /** The sources whose events are sent. Default: all. */
  readonly sources?: readonly string[]
  /** Types or globs, as in `inbox.on`. Default `*`. */
  readonly types?: readonly string[]
  /** For a new destination: which events of the log it gets, as in `inbox.on`. Default `now`. */
  readonly from?: ConsumerStart
  /** Time limit from the DNS lookup to the answer. Default `'15s'`. */
  readonly timeout?: Duration
  /** Overrides the default retry policy. */
  readonly retry?: Partial<RetryPolicy>
  /** The most requests per second from this process. Events above it are postponed; they do not fail. */
  readonly ratePerSecond?: number
  /** The most requests at the same time from this process. Default 4. */
  readonly concurrency?: number
  /** Private ranges that are allowed: `10.0.0.0/8`. Default none. */
  readonly allowPrivate?: readonly string[]
  /** When to pause the destination. Default: after 20 failures in a row over at least 5 minutes; false = never. */
  readonly pauseAfter?: { readonly failures?: number; readonly lasting?: Duration } | false
  /** Delay before a paused destination is probed with one event, doubled up to 15 minutes. Default `'1m'`. */
  readonly probeEvery?: Duration
  /** Sent with every request, such as `authorization`. */
  readonly headers?: Readonly<Record<string, string>>
  /** Certificates (PEM) to trust instead of the system's. */
  readonly ca?: string
}

export const destinationRule = shape({
  url: required(anyText),
  // `signersOf` checks the secrets.
  secret: either(anyText, rule('a list of texts', Array.isArray), callable),
  sources: listOf(text),
  types: listOf(text),
  from: fromRule,
  timeout: duration(1, 600_000),
  retry: retryRule,
  ratePerSecond: numberAbove(0, 1e6),
  concurrency: whole(1, 1_000),
  allowPrivate: listOf(text),
  pauseAfter: either(off, shape({ failures: whole(1, 1e9), lasting: duration(0, MAX_TIMER_MS) })),
  probeEvery: duration(1, MAX_TIMER_MS),
  headers: mapOf(anyText),
  ca: text,
} satisfies Record<keyof Destination, Rule>)

export type CheckedDestination = ReturnType<typeof checkDestination>

export function checkDestination(name: string, options: Destination, allSources: readonly string[]) {
  const what = `destination "${name}"`
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name))
    throw invalid(`The name of ${what}`, 'must be 1 to 64 letters, digits, dashes or underscores')
  checkOptions(`destinations.${name}`, options, destinationRule)
  const allow = allowList(`allowPrivate of ${what}`, options.allowPrivate ?? [])
  const { failures = 20, lasting } = options.pauseAfter || {}
  const retry: RetryPolicy = { ...defaultRetry, ...options.retry }
  checkRetry(retry)
  return {
    name,
    what,
    url: checkUrl(what, options.url, allow),
    signers: signersOf(what, options.secret),
    sources: sourcesOf(what, options.sources ?? allSources, allSources),
    types: typesOf(what, options.types ?? ['*']),
    from: options.from,
    timeoutMs: msOf(options.timeout, '15s'),
    retry,
    ratePerSecond: options.ratePerSecond ?? null,
    concurrency: options.concurrency ?? 4,
    allow,
    pauseAfter: options.pauseAfter === false ? null : { failures, lastingMs: msOf(lasting, '5m') },
    probeEveryMs: msOf(options.probeEvery, '1m'),
    headers: headersOf(what, options.headers ?? {}),
    ca: options.ca,
  }
}

/** The Standard Webhooks provider checks the secrets. */
export function signersOf(what: string, secret: Destination['secret']): readonly Source[] {
  const value: unknown = typeof secret === 'function' ? secret() : secret
  try {
    return ((Array.isArray(value) ? value : [value]) as string[]).map((own) =>
      standardWebhooks({ secret: own }),
    )
  } catch (error) {
    if (!isHookonceError(error)) throw error
    throw new HookonceError('INVALID_INPUT', {
      what: `The secret of ${what}`,
      problem: secretProblem(error.code),
    })
  }
}

function secretProblem(code: string): string {
  if (code === 'SECRET_MISSING') return 'is missing, empty or blank'
  if (code === 'SECRET_SHORT') return 'is shorter than 16 bytes'
  return 'must be written as whsec_ and base64'
}

function sourcesOf(what: string, wanted: readonly string[], all: readonly string[]): readonly string[] {
  const missing = wanted.find((source) => !all.includes(source))
  if (missing !== undefined)
    throw invalid(
      `The sources of ${what}`,
      `name "${missing}", which is not configured (${hintOf(missing, all)})`,
    )
  return [...new Set(wanted)]
}

function typesOf(what: string, types: readonly string[]): readonly string[] {
  if (types.length === 0)
    throw invalid(`The types of ${what}`, "must be a list of event types or globs, such as ['invoice.*']")
  return [...new Set(types)]
}

/** A user cannot set the headers of the connection and those of hookonce. */
const ownHeaders =
  /^(?:host|connection|content-length|content-type|transfer-encoding|te|trailer|upgrade|expect|keep-alive|proxy-.*|accept-encoding|webhook-.*|hookonce-.*)$/

function headersOf(
  what: string,
  headers: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const checked: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    const header = name.toLowerCase()
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(header) || !/^[\t\x20-\x7e]*$/.test(value))
      throw invalid(
        `The header "${name}" of ${what}`,
        'must be plain ASCII without line breaks, name and value',
      )
    if (ownHeaders.test(header))
      throw invalid(`The header "${name}" of ${what}`, 'cannot be set; hookonce sets it itself')
    checked[header] = value
  }
  return checked
}
