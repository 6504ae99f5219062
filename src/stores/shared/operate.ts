/** The rules of an operator's order, on the state of one event. */
import { canMove, type Order, type OrderRefusal, type OrderResult, type State } from '../../model.js'

export interface OrderedEvent {
  readonly state: State
  readonly hasPayload: boolean
}

/** `event` is undefined when it was not found. */
export function orderResult(order: Order, event: OrderedEvent | undefined): OrderResult {
  if (event === undefined) return { done: false, code: 'EVENT_NOT_FOUND' }
  const code = refusalOf(order, event)
  if (code !== null) return { done: false, code }
  return { done: true, from: event.state, to: order.verb === 'ignore' ? 'ignored' : 'pending' }
}

function refusalOf(
  { verb, force, conflict }: Order,
  { state, hasPayload }: OrderedEvent,
): OrderRefusal | null {
  if (state === 'processing') return 'EVENT_PROCESSING'
  if (!canMove(state, verb)) return 'MOVE_FORBIDDEN'
  if (verb !== 'ignore' && !hasPayload) return conflict ? 'CONFLICT_NOT_FOUND' : 'PAYLOAD_REMOVED'
  return state === 'succeeded' && force !== true ? 'FORCE_NEEDED' : null
}
