import { type Action, type ActionRefusal, type ActionResult, canMove, type State } from '../../model.js'

export interface OrderedEvent {
  readonly state: State
  /** Whether the bytes are there that the action would run. */
  readonly hasPayload: boolean
  /** Of an action with `conflict`: whether the content that it is about is open. */
  readonly isOpen: boolean
}

export function actionResult(action: Action, event: OrderedEvent | undefined): ActionResult {
  if (event === undefined) return { done: false, code: 'EVENT_NOT_FOUND' }
  const code = refusalOf(action, event)
  if (code !== null) return { done: false, code }
  if (decidesOnly(action)) return { done: true, from: event.state, to: event.state }
  return { done: true, from: event.state, to: action.verb === 'ignore' ? 'ignored' : 'pending' }
}

/** The content that the action names; null when it names none. */
export function namedContent({ conflict }: Action): Buffer | null {
  return typeof conflict === 'string' ? Buffer.from(conflict, 'hex') : null
}

/** The operator keeps the first content: the action decides about the conflict and changes nothing else. */
export function decidesOnly({ verb, conflict }: Action): boolean {
  return verb === 'ignore' && Boolean(conflict)
}

/** A reader of the audit must not take a decision about a conflict for an ignored event. */
export function auditVerb(action: Action): string {
  return decidesOnly(action) ? 'ignore conflict' : action.verb
}

function refusalOf(action: Action, { state, hasPayload, isOpen }: OrderedEvent): ActionRefusal | null {
  const { verb, force, conflict } = action
  if (typeof conflict === 'string' && !isOpen) return 'CONFLICT_CHANGED'
  if (decidesOnly(action)) return isOpen ? null : 'CONFLICT_NOT_FOUND'
  if (state === 'processing') return 'EVENT_PROCESSING'
  if (!canMove(state, verb)) return 'MOVE_FORBIDDEN'
  if (verb !== 'ignore' && !hasPayload) return conflict ? 'CONFLICT_NOT_FOUND' : 'PAYLOAD_REMOVED'
  return state === 'succeeded' && force !== true ? 'FORCE_NEEDED' : null
}
