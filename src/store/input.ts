/** Each check throws INVALID_INPUT. */
import { type HookonceError, invalid, isHookonceError } from '../errors.js'
import type {
  Action,
  ClaimOptions,
  EventFilter,
  EventKey,
  NewDelivery,
  RecordClaim,
  RecordVerdict,
  Reply,
  Settlement,
  TailOptions,
} from '../model.js'
import { limits, type Reference, states } from '../model.js'
import { labelProblem } from '../references.js'
import type {
  AuditFilter,
  EffectStep,
  GrantHolder,
  GrantRequest,
  KeyStep,
  NewAudit,
  Repeat,
  Watermark,
} from '../store.js'

/** A refusal for each event of an invalid delivery; null when it is valid. */
export function refusal(delivery: NewDelivery): RecordVerdict[] | null {
  try {
    checkDelivery(delivery)
    return null
  } catch (error) {
    if (!isHookonceError(error)) throw error
    return delivery.events.map(() => ({ status: 'refused', code: error.code, detail: error.message }))
  }
}

export function checkDelivery(delivery: NewDelivery): void {
  checkText('A source name', delivery.source, 1, limits.sourceBytes)
  if (delivery.events.length === 0) throw invalid('A delivery', 'must carry at least one event')
  if (delivery.body.byteLength > limits.bodyBytes) {
    throw invalid(
      'A body',
      `must not be larger than ${limits.bodyBytes} bytes, and has ${delivery.body.byteLength}`,
    )
  }
  if (delivery.receivedAt !== undefined) checkInstant('receivedAt', delivery.receivedAt)
  for (const event of delivery.events) {
    checkEventId(event.id)
    checkText('An event type', event.type, 1, limits.eventTypeBytes)
    if (event.reference !== null) checkText('A reference', event.reference, 1, limits.referenceBytes)
    checkReferences(event.references, event.reference)
    checkHash('contentHash', event.contentHash)
    checkHash('guardHash', event.guardHash)
    if (event.lane != null) checkText('A lane', event.lane, 1, limits.referenceBytes)
  }
}

/** `checked`: a value that is known to be valid. */
export function checkReferences(references: readonly Reference[] = [], checked: string | null = null): void {
  if (references.length > limits.references)
    throw invalid(
      'An event',
      `has at most ${limits.references} labelled references, not ${references.length}`,
    )
  for (const { label, value } of references) {
    const problem = labelProblem(label)
    if (problem) throw invalid('The label of a reference', problem)
    if (value !== checked) checkText('A reference', value, 1, limits.referenceBytes)
  }
}

export function checkKey(key: EventKey): void {
  checkSource(key.source)
  checkEventId(key.id)
}

export function checkClaim(options: ClaimOptions): void {
  checkText('A worker name', options.worker, 1, 255)
  checkCount('limit', options.limit, limits.claimBatch)
  checkLeaseMs(options.leaseMs)
  for (const source of options.sources ?? []) checkSource(source)
  for (const { source, type } of options.except ?? []) {
    checkSource(source)
    checkText('An event type', type, 1, limits.eventTypeBytes)
  }
  if (options.event) checkKey(options.event)
}

export function checkRecordClaim({ worker, leaseMs, tokens }: RecordClaim): void {
  checkText('A worker name', worker, 1, 255)
  checkLeaseMs(leaseMs)
  for (const token of tokens.values()) checkUuid('The token of a lease', token)
}

export function checkUuid(what: string, text: string): void {
  if (!UUID.test(text)) throw invalid(what, 'must be a UUID in lower case')
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export function checkLeaseMs(leaseMs: number): void {
  checkCount('leaseMs', leaseMs, limits.leaseMs)
}

export function checkDelayMs(what: string, delayMs: number): void {
  if (!(delayMs >= 0 && delayMs <= limits.delayMs))
    throw invalid(what, `must be from 0 to ${limits.delayMs} ms (a year), not ${delayMs}`)
}

export function checkSettlement({ outcome, durationMs, references }: Settlement): void {
  checkReferences(references)
  if (!(durationMs >= 0) || !Number.isFinite(durationMs)) {
    throw invalid('durationMs', `must be a number of milliseconds, 0 or more, not ${durationMs}`)
  }
  switch (outcome.kind) {
    case 'succeeded':
      return
    case 'ignored':
      checkText('A reason', outcome.reason, 1, limits.reasonBytes, true)
      return
    case 'failed':
      checkText('An error text', outcome.error, 0, limits.errorBytes, true)
      if (outcome.place !== undefined) checkText('A place', outcome.place, 0, limits.placeBytes, true)
      if (outcome.retryInMs !== null) checkDelayMs('retryInMs', outcome.retryInMs)
      return
    default:
      throw invalid(
        'An outcome',
        `must be succeeded, ignored or failed, not "${(outcome as { kind: string }).kind}"`,
      )
  }
}

export function checkAction(action: Action): void {
  if (!['retry', 'replay', 'ignore'].includes(action.verb))
    throw invalid('An action', `must be retry, replay or ignore, not "${action.verb}"`)
  if (action.events.length > 1_000) throw invalid('An action', 'takes at most 1,000 events at once; split it')
  checkText('An actor', action.actor, 1, 255)
  checkText('A note', action.note, 0, limits.reasonBytes, true)
  if (typeof action.conflict === 'string') checkContentHash('conflict', action.conflict)
  const effects = Object.entries(action.effects ?? {})
  if (effects.length > 0 && (action.events.length !== 1 || action.verb === 'ignore'))
    throw invalid('effects', 'is for a retry or replay of one event')
  for (const [name, result] of effects) {
    checkText('An effect name', name, 1, limits.effectNameBytes)
    if (result !== null) checkText('An effect result', result, 1, limits.effectResultBytes, true)
  }
  for (const key of action.events) checkKey(key)
}

export function checkContentHash(what: string, hash: string): void {
  if (!/^[0-9a-f]{64}$/.test(hash)) throw invalid(what, 'must be a SHA-256 of 64 hexadecimal digits')
}

export function checkEffect(step: EffectStep): void {
  checkText('An effect name', step.name, 1, limits.effectNameBytes)
  if (step.step === 'finish') checkText('An effect result', step.result, 0, limits.effectResultBytes, true)
}

/** A person decides only about an effect whose end is unknown: another name is a typing error. */
export function notUnknown(name: string, { source, id }: EventKey): HookonceError {
  return invalid(
    `The effect "${name}"`,
    `of event "${id}" of "${source}" is not one whose end is unknown; the page of the event in the dashboard lists its effects`,
  )
}

export function checkKeyStep(step: KeyStep): void {
  checkText('A key', step.key, 1, limits.eventIdBytes)
  if (step.step === 'take' || step.step === 'extend') checkLeaseMs(step.leaseMs)
  if (step.step !== 'finish') return
  checkText('A result', step.result, 0, limits.effectResultBytes, true)
  if (step.ttlMs !== null) checkCount('ttlMs', step.ttlMs, 10 * 366 * 86_400_000)
}

export function checkWatermark({ source, key, value }: Watermark): void {
  checkSource(source)
  checkText('A watermark key', key, 1, 2 * limits.referenceBytes)
  if (!Number.isFinite(value)) throw invalid('A watermark', `must be a number, not ${value}`)
}

/** Encryption makes it longer. `reply(...)` checks what a handler returns. */
export function checkReply({ httpStatus, body }: Reply): void {
  checkCount('The status of a reply', httpStatus, 599)
  if (body.byteLength > 2 * limits.replyBytes)
    throw invalid('A reply', `must not be larger than ${2 * limits.replyBytes} bytes`)
}

export function checkFilter(filter: EventFilter): void {
  if (filter.state !== undefined && !states.includes(filter.state)) {
    throw invalid('state', `must be one of ${states.join(', ')}, not "${filter.state}"`)
  }
  if (filter.source !== undefined) checkSource(filter.source)
  if (filter.id !== undefined) checkEventId(filter.id)
  if (filter.type !== undefined) checkText('A type', filter.type, 1, limits.eventTypeBytes)
  checkSubject(filter)
  if (filter.reason !== undefined) checkText('A reason', filter.reason, 1, limits.errorBytes, true)
  if (filter.reasonLike !== undefined)
    checkText('A pattern of a reason', filter.reasonLike, 1, limits.errorBytes, true)
  if (filter.minAttempts !== undefined) checkCount('minAttempts', filter.minAttempts, 1_000_000)
  if (filter.from !== undefined) checkInstant('from', filter.from)
  if (filter.to !== undefined) checkInstant('to', filter.to)
}

/** A value of any label, or of one label. */
export function checkSubject({ reference, label }: Pick<EventFilter, 'reference' | 'label'>): void {
  if (reference !== undefined) checkText('A reference', reference, 1, limits.referenceBytes)
  if (label === undefined) return
  const problem = labelProblem(label)
  if (problem) throw invalid('label', problem)
  if (reference === undefined) throw invalid('label', 'needs `reference`, the value to look for')
}

export function checkTail({ after, limit, source }: TailOptions): void {
  if (!Number.isSafeInteger(after) || after < 0) {
    throw invalid('after', `must be 0 or a position that tail returned, not ${after}`)
  }
  checkCount('limit', limit, limits.listPage)
  if (source !== undefined) checkSource(source)
}

export function checkAudits(entries: readonly NewAudit[]): void {
  if (entries.length > 1_000) throw invalid('An audit', 'takes at most 1,000 entries at once; split it')
  for (const { actor, verb, source, eventId, note } of entries) {
    checkText('An actor', actor, 1, 255)
    checkText('A verb', verb, 1, 64)
    if (source !== null) checkSource(source)
    if (eventId !== null) checkEventId(eventId)
    if (eventId !== null && source === null) throw invalid('An audit', 'must name the source of its event')
    checkText('A note', note, 0, limits.reasonBytes, true)
  }
}

export function checkAuditFilter({ source, eventId, actor, verb, from, to }: AuditFilter): void {
  if (source !== undefined) checkSource(source)
  if (eventId !== undefined) checkEventId(eventId)
  if (actor !== undefined) checkText('An actor', actor, 1, 255)
  if (verb !== undefined) checkText('A verb', verb, 1, 64)
  if (from !== undefined) checkInstant('from', from)
  if (to !== undefined) checkInstant('to', to)
}

export function checkRepeats(repeats: readonly Repeat[]): void {
  for (const { seq, at } of repeats) {
    checkCount('seq', seq, Number.MAX_SAFE_INTEGER)
    checkInstant('at', at)
  }
}

const MAX_PATTERN_BYTES = 4_096
const MAX_GRANTED = 1_000_000

export function checkGrants({ id, worker, leaseMs }: GrantHolder, requests: readonly GrantRequest[]): void {
  if (!UUID.test(id)) throw invalid('The id of a holder', 'must be a UUID in lower case')
  checkText('A worker name', worker, 1, 255)
  checkLeaseMs(leaseMs)
  if (requests.length > 1_000) throw invalid('A call', 'takes at most 1,000 requests for grants; split it')
  for (const { source, pattern, key, slots, starts, pauseMs } of requests) {
    checkSource(source)
    checkText('The pattern of a limit', pattern, 1, MAX_PATTERN_BYTES)
    checkText('The key of a limit', key, 0, limits.referenceBytes)
    if (slots) {
      if (slots.wanted !== 0) checkCount('wanted', slots.wanted, MAX_GRANTED)
      checkCount('most', slots.most, MAX_GRANTED)
    }
    if (starts) {
      checkCount('wanted', starts.wanted, MAX_GRANTED)
      if (!(starts.spacingMs > 0 && starts.spacingMs <= limits.delayMs))
        throw invalid('spacingMs', `must be more than 0 and at most a year, not ${starts.spacingMs}`)
    }
    if (pauseMs !== undefined) checkDelayMs('pauseMs', pauseMs)
  }
}

export function checkCount(what: string, value: number, most: number): void {
  if (!Number.isInteger(value) || value < 1 || value > most) {
    throw invalid(what, `must be a whole number from 1 to ${most}, not ${value}`)
  }
}

export function checkInstant(what: string, value: number): void {
  if (!Number.isFinite(value) || value < 0 || value > 253_402_300_799_999) {
    throw invalid(what, `must be milliseconds since 1970, not ${value}`)
  }
}

export function checkSource(source: string): void {
  checkText('A source name', source, 1, limits.sourceBytes + 1 + limits.consumerBytes)
}

/** A source name is used in URLs. Null when it is valid. */
export function sourceNameProblem(name: string): string | null {
  if (/^[A-Za-z0-9][A-Za-z0-9_.-]*$/.test(name) && name.length <= limits.sourceBytes) return null
  return `must be 1 to ${limits.sourceBytes} letters, digits, dots, dashes or underscores, and begin with a letter or digit`
}

/** Null when it is valid. It is used in URLs and in the names of destinations. */
export function consumerNameProblem(name: string): string | null {
  if (/^[A-Za-z0-9][A-Za-z0-9_-]*$/.test(name) && name.length <= limits.consumerBytes) return null
  return `must be 1 to ${limits.consumerBytes} letters, digits, dashes or underscores, and begin with a letter or digit`
}

function checkEventId(eventId: string): void {
  checkText('An event id', eventId, 1, limits.eventIdBytes)
}

function checkHash(what: string, hash: Uint8Array | null): void {
  if (hash !== null && hash.byteLength !== 32) throw invalid(what, 'must be a SHA-256 of 32 bytes')
}

/**
 * Text that both databases store unchanged: no control characters (PostgreSQL refuses NUL, and terminals interpret
 * ESC), and no lone surrogates (they would be replaced, and two ids could become equal).
 */
export function checkText(what: string, text: unknown, least: number, most: number, multiline = false): void {
  if (typeof text !== 'string') throw invalid(what, 'must be text')
  const bytes = Buffer.byteLength(text)
  if (bytes < least) throw invalid(what, 'must not be empty')
  if (bytes > most) throw invalid(what, `must not be longer than ${most} bytes, and has ${bytes}`)
  if (!text.isWellFormed()) throw invalid(what, 'must be well-formed Unicode, and contains a lone surrogate')
  if (multiline ? text.includes('\0') : CONTROL.test(text))
    throw invalid(what, 'must not contain control characters')
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the characters to refuse
const CONTROL = /[\u0000-\u001f\u007f]/
