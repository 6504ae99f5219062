/** Where an event with a row in `work` stands (docs/decisions/0001-tables.md, first table). */
import type { State } from '../../model.js'

export interface WorkRow {
  readonly token: string | null
  readonly nextAt: number
  readonly attempt: number
  readonly baseAttempt: number
}

export function workState({ token, nextAt, attempt, baseAttempt }: WorkRow, now: number): State {
  if (token !== null && nextAt > now) return 'processing'
  // A lease that ran out counts as the attempt it was, so the first one leaves the event as if never tried.
  const tries = attempt - baseAttempt - (token === null ? 0 : 1)
  return tries <= 0 ? 'pending' : 'failed'
}
