import { type Action, type ActionRefusal, type ActionResult, canMove, type State } from '../../model.js'

export interface OrderedEvent {
  readonly state: State
  readonly hasPayload: boolean
}

export function actionResult(action: Action, event: OrderedEvent | undefined): ActionResult {
  if (event === undefined) return { done: false, code: 'EVENT_NOT_FOUND' }
  const code = refusalOf(action, event)
  if (code !== null) return { done: false, code }
  return { done: true, from: event.state, to: action.verb === 'ignore' ? 'ignored' : 'pending' }
}

function refusalOf(
  { verb, force, conflict }: Action,
  { state, hasPayload }: OrderedEvent,
): ActionRefusal | null {
  if (state === 'processing') return 'EVENT_PROCESSING'
  if (!canMove(state, verb)) return 'MOVE_FORBIDDEN'
  if (verb !== 'ignore' && !hasPayload) return conflict ? 'CONFLICT_NOT_FOUND' : 'PAYLOAD_REMOVED'
  return state === 'succeeded' && force !== true ? 'FORCE_NEEDED' : null
}
