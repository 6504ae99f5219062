/**
 * prepare: decides for each claimed event whether its handler runs. An event that needs no handler has its result here:
 * nobody handles its type, its attempts are used up, its payload is unreadable or does not match the schema, or it is
 * stale.
 */
import { codeOf, type ErrorCode } from '../errors.js'
import type { ClaimedEvent } from '../model.js'
import type { Source } from '../provider.js'
import { need, type Store, type Watermark } from '../store.js'
import { permanent } from './failure.js'
import { type FailureDeps, failureIn, isOutcome, type Result, unavailableNow, usedUp } from './handle.js'
import { asHandledEvent, withPayload } from './handled-event.js'
import type { HandledEvent, StandardSchema } from './handler.js'
import type { Registered } from './handlers.js'
import type { Session } from './session.js'

export interface PreparedEvent {
  readonly claimed: ClaimedEvent
  /** The event as its handler sees it; null when its handler does not run. */
  readonly event: HandledEvent | null
  /** Moved forward together with success. */
  readonly watermark: Watermark | null
  /** The result if the handler returns; changed by `ctx.ignore`. */
  result: Result
  /** The time that the handler took. */
  durationMs: number
}

interface PrepareDeps<Tx> extends FailureDeps<Tx> {
  readonly store: Store<Tx>
  readonly sources: ReadonlyMap<string, Source>
}

export function prepare<Tx>(
  deps: PrepareDeps<Tx>,
  session: Session<Tx>,
  handler: Registered<Tx> | null,
): Promise<PreparedEvent[]> | PreparedEvent[] {
  const prepared = session.claimed.map((claimed) => prepareEvent(deps, session, handler, claimed))
  // Most handlers have neither a schema nor a stale guard, and nothing to wait for.
  if (!handler?.options.schema && !handler?.options.stale) return prepared
  return Promise.all(prepared.map((one) => examine(deps, session, handler, one)))
}

/**
 * False for a group whose events must run one by one: an event has neither a handler to run nor an outcome to write, or
 * is older than an event before it. That one would be stale, if the event before it succeeds.
 */
export function mayShareTransaction(prepared: readonly PreparedEvent[]): boolean {
  if (prepared.length === 1) return true
  const newest = new Map<string, number>()
  return prepared.every(({ result, watermark }) => {
    if (!isOutcome(result)) return false
    if (!watermark) return true
    const { key, value } = watermark
    const isOlder = value < (newest.get(key) ?? value)
    newest.set(key, value)
    return !isOlder
  })
}

function prepareEvent<Tx>(
  deps: PrepareDeps<Tx>,
  session: Session<Tx>,
  handler: Registered<Tx> | null,
  claimed: ClaimedEvent,
): PreparedEvent {
  if (!handler) return withoutHandler(claimed, { kind: 'ignored', reason: 'unhandled' })
  const over = usedUp(handler.retry, claimed.tries)
  if (over) return withoutHandler(claimed, over)
  const source = deps.sources.get(claimed.source)
  try {
    if (claimed.unreadable) throw claimed.unreadable
    if (claimed.body === null || !source)
      throw permanent('its payload has been removed, so it cannot be handled')
    const event = asHandledEvent(source, claimed, claimed.body)
    return { claimed, event, watermark: null, result: { kind: 'succeeded' }, durationMs: 0 }
  } catch (error) {
    return withoutHandler(claimed, failureIn(deps, session, error, claimed))
  }
}

/** Applies the schema and the stale guard of the handler. */
async function examine<Tx>(
  deps: PrepareDeps<Tx>,
  session: Session<Tx>,
  handler: Registered<Tx>,
  prepared: PreparedEvent,
): Promise<PreparedEvent> {
  const { claimed } = prepared
  if (prepared.event === null) return prepared
  const { schema, stale } = handler.options
  try {
    const event = schema ? await validated(prepared.event, schema) : prepared.event
    const watermark = stale ? watermarkOf(handler, event, stale) : null
    const isLate = watermark ? await isStale(deps.store, watermark) : false
    if (isLate === true) return withoutHandler(claimed, { kind: 'ignored', reason: 'stale' })
    if (isLate !== false) return withoutHandler(claimed, unavailableNow(isLate))
    return { ...prepared, event, watermark }
  } catch (error) {
    return withoutHandler(claimed, failureIn(deps, session, error, claimed))
  }
}

function withoutHandler(claimed: ClaimedEvent, result: Result): PreparedEvent {
  return { claimed, event: null, watermark: null, result, durationMs: 0 }
}

/** The event with the payload as the schema returns it. A payload that does not match the schema never will. */
async function validated(event: HandledEvent, schema: StandardSchema): Promise<HandledEvent> {
  const result = await schema['~standard'].validate(event.payload)
  if (result.issues) {
    const [first] = result.issues
    throw permanent(
      `the payload does not fit the schema: ${first?.message ?? 'no reason given'}${pathOf(first?.path)}`,
    )
  }
  return withPayload(event, result.value)
}

function pathOf(path: readonly unknown[] | undefined): string {
  if (!path?.length) return ''
  return ` at ${path.map((step) => String(typeof step === 'object' && step !== null && 'key' in step ? step.key : step)).join('.')}`
}

/** The key holds the pattern of the handler, because two handlers may count in different units. */
function watermarkOf<Tx>(
  { pattern }: Registered<Tx>,
  event: HandledEvent,
  stale: (event: HandledEvent) => number,
): Watermark | null {
  if (event.reference === null) return null
  const value = stale(event)
  if (!Number.isFinite(value))
    throw new Error(`stale() returned ${value} for event "${event.id}"; it must return a number`)
  return { source: event.source, key: `${pattern.length}:${pattern} ${event.reference}`, value }
}

/** The code of the error when the store cannot tell. */
async function isStale<Tx>(
  store: Store<Tx>,
  { source, key, value }: Watermark,
): Promise<boolean | ErrorCode> {
  const keys = need(store, 'keys', 'the handler option stale')
  try {
    const applied = await keys.watermark(source, key)
    return applied !== null && applied > value
  } catch (error) {
    return codeOf(error)
  }
}
