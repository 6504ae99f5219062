/** Rules about rows of the `work` table, the same in every store (docs/decisions/0001-tables.md, first table). */
import type { State } from '../../model.js'

/**
 * An event is due this far ahead while another event of its lane is before it. It becomes due at once
 * when that event leaves `work`; the hour only limits the wait if this step is ever missed.
 */
export const PARKED_MS = 3_600_000
/** Delay before the first event of a lane is looked at again while another event of the lane is leased. */
export const LOOK_AGAIN_MS = 1_000

export interface WorkRow {
  readonly token: string | null
  readonly nextAt: number
  readonly attempt: number
  readonly baseAttempt: number
}

export function workState({ token, nextAt, attempt, baseAttempt }: WorkRow, now: number): State {
  if (token !== null && nextAt > now) return 'processing'
  // The claim counted the attempt of an expired lease. It did not fail, so after the first one the event is pending.
  const tries = attempt - baseAttempt - (token === null ? 0 : 1)
  return tries <= 0 ? 'pending' : 'failed'
}
