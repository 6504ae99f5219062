import type { Standing } from '../../store/waiting.js'

export interface StandingRow extends Pick<Standing, 'seq' | 'now' | 'dueAt'> {
  readonly isLeased: boolean | number
  readonly worker: string | null
  readonly claimedAt: number | null
  /** Of the last failed attempt. */
  readonly failedAt: number | null
  readonly beforeId: string | null
  readonly beforeDueAt: number | null
}

export function asStanding(row: StandingRow): Standing {
  const { seq, now, dueAt, isLeased, worker, claimedAt, failedAt, beforeId, beforeDueAt } = row
  const isHeld = Boolean(isLeased)
  return {
    seq,
    now,
    dueAt,
    lease: isHeld ? { worker: worker ?? '', claimedAt: claimedAt ?? now } : null,
    // A failed attempt ends after its claim. Rounding to milliseconds may make them equal.
    isReleased: !isHeld && claimedAt !== null && (failedAt === null || claimedAt > failedAt),
    before: beforeId === null ? null : { id: beforeId, dueAt: beforeDueAt },
  }
}
