import { HookonceError } from '../errors.js'
import type { Destination } from '../forward/destination.js'
import type { Sources } from '../inbox/event-types.js'
import type { Inbox, InboxOptions } from '../inbox.js'
import type { Logger, LogLevel } from '../log.js'
import type { ServerOptions } from '../server/options.js'
import type { Store } from '../store.js'
import type { Alerts } from '../telemetry/alert-rules.js'

export interface HookonceConfig<Tx = unknown, S extends Sources = Sources>
  extends Omit<InboxOptions<Tx, S>, 'store' | 'log' | 'clock' | 'ownsStore'> {
  /** A store, its URL, or a function that gives the URL: `env('DATABASE_URL')`. HOOKONCE_STORE overrides it. */
  readonly store: Store<Tx> | string | (() => string)
  /** Registers the handlers: `handlers(inbox) { inbox.on('stripe', 'invoice.paid', ...) }`. */
  readonly handlers?: (inbox: Inbox<Tx, S>) => void | Promise<void>
  /** Endpoints that events are forwarded to, by name. */
  readonly destinations?: Readonly<Record<string, Destination>>
  /** Alerts, checked while the inbox runs. */
  readonly alerts?: Alerts
  /** Where and how the server listens. HOOKONCE_HOST, HOOKONCE_PORT and HOOKONCE_ADMIN_TOKEN override it. */
  readonly server?: ServerOptions
  /** A logger, or the lowest level that is written to standard error. */
  readonly log?: Logger | LogLevel
}

/** Gives the configuration its types; returns it as it is. */
export function defineConfig<Tx = unknown, S extends Sources = Sources>(
  config: HookonceConfig<Tx, S>,
): HookonceConfig<Tx, S> {
  return config
}

/**
 * Reads a variable when it is needed: `secret: env('STRIPE_SECRET')`. Several names give a list for rotation: the first
 * must be set, the others are optional.
 */
export function env(name: string): () => string
export function env(name: string, ...others: readonly string[]): () => readonly string[]
export function env(name: string, ...others: readonly string[]): () => string | readonly string[] {
  const read = () => {
    const first = process.env[name]?.trim()
    if (!first) throw new HookonceError('ENV_MISSING', { name, use: `read by env("${name}")`, more: '' })
    if (others.length === 0) return first
    return [first, ...others.flatMap((other) => process.env[other]?.trim() || [])]
  }
  required.set(read, name)
  return read
}

/** The variable that a function of `env` must find. */
const required = new WeakMap<object, string>()

/** The store, destinations and keys read their variables after the file has run. Returns those that are not set. */
export function unsetVariables(value: unknown, depth = 0): string[] {
  if (typeof value === 'function') {
    const name = required.get(value)
    return name === undefined || process.env[name]?.trim() ? [] : [name]
  }
  const isPlain = Array.isArray(value) || Object.getPrototypeOf(value ?? 0) === Object.prototype
  if (!isPlain || depth > 8) return []
  return [...new Set(Object.values(value as object).flatMap((member) => unsetVariables(member, depth + 1)))]
}
