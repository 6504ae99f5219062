/**
 * prepare: decides whether the handler of a claimed event runs. An event that needs no handler has its result here:
 * nobody handles its type, its attempts are used up, its payload is unreadable or does not match the schema, or it is
 * stale.
 */
import { timeLimited } from '../clock.js'
import { codeOf, type ErrorCode } from '../errors.js'
import { type ClaimedEvent, followedSource, type Reference, type Reply } from '../model.js'
import type { Source } from '../provider.js'
import { need, type Store, type Watermark } from '../store.js'
import type { AttemptDeps } from './attempt.js'
import { permanent } from './failure.js'
import type { HandledEvent, StandardSchema } from './handler.js'
import { asHandledEvent, withPayload } from './payload.js'
import type { Registered } from './registry.js'
import { failureIn, type Result, unavailableNow, usedUp } from './result.js'
import type { Session } from './session.js'

export interface PreparedEvent {
  readonly claimed: ClaimedEvent
  /** Null when its handler does not run. */
  readonly event: HandledEvent | null
  /** Moved forward together with success. */
  readonly watermark: Watermark | null
  /** The result if the handler returns; changed by `ctx.ignore`. */
  result: Result
  /** Added by `ctx.refer`. */
  references?: Reference[]
  /** Written together with the result. */
  reply: Reply | null
  durationMs: number
}

/** A promise only with a schema or a stale guard, which most handlers do not have. */
export function prepare<Tx>(
  deps: AttemptDeps<Tx>,
  session: Session<Tx>,
  handler: Registered<Tx> | null,
  claimed: ClaimedEvent,
): PreparedEvent | Promise<PreparedEvent> {
  if (!handler) {
    const reason = deps.registry.isConsumed(claimed) ? 'other_consumers' : 'unhandled'
    return withoutHandler(claimed, { kind: 'ignored', reason })
  }
  const over = usedUp(handler.retry, claimed.tries)
  if (over) return withoutHandler(claimed, over)
  const failed = (error: unknown) => withoutHandler(claimed, failureIn(deps, session, error, claimed))
  try {
    const event = readable(deps.sources, claimed)
    const { schema, stale } = handler.options
    if (schema || stale) return examined(deps, handler, claimed, event).catch(failed)
    return { claimed, event, watermark: null, result: { kind: 'succeeded' }, reply: null, durationMs: 0 }
  } catch (error) {
    return failed(error)
  }
}

function readable(sources: ReadonlyMap<string, Source>, claimed: ClaimedEvent): HandledEvent {
  if (claimed.unreadable) throw claimed.unreadable
  const source = sources.get(followedSource(claimed.source))
  if (claimed.body === null || !source)
    throw permanent('its payload has been removed, so it cannot be handled')
  return asHandledEvent(source, claimed, claimed.body)
}

async function examined<Tx>(
  { store }: AttemptDeps<Tx>,
  handler: Registered<Tx>,
  claimed: ClaimedEvent,
  received: HandledEvent,
): Promise<PreparedEvent> {
  const { schema, stale } = handler.options
  const event = schema ? await validated(received, schema, handler.timeoutMs) : received
  const watermark = stale ? watermarkOf(handler, claimed, event, stale) : null
  const isLate = watermark ? await isStale(store, watermark) : false
  if (isLate === true) return withoutHandler(claimed, { kind: 'ignored', reason: 'stale' })
  if (isLate !== false) return withoutHandler(claimed, unavailableNow(isLate))
  return { claimed, event, watermark, result: { kind: 'succeeded' }, reply: null, durationMs: 0 }
}

function withoutHandler(claimed: ClaimedEvent, result: Result): PreparedEvent {
  return { claimed, event: null, watermark: null, result, reply: null, durationMs: 0 }
}

/** A payload that does not match the schema never will. */
async function validated(
  event: HandledEvent,
  schema: StandardSchema,
  limitMs: number,
): Promise<HandledEvent> {
  const validating = schema['~standard'].validate(event.payload)
  const late = () => new Error(`the schema took longer than ${limitMs} ms`)
  const result = 'then' in validating ? await timeLimited(validating, limitMs, late) : validating
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
  { source }: ClaimedEvent,
  event: HandledEvent,
  stale: (event: HandledEvent) => number,
): Watermark | null {
  if (event.reference === null) return null
  const value = stale(event)
  if (!Number.isFinite(value))
    throw new Error(`stale() returned ${value} for event "${event.id}"; it must return a number`)
  return { source, key: `${pattern.length}:${pattern} ${event.reference}`, value }
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
