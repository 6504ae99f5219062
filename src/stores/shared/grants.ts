/** What both stores and their tests know about grants. */

/** Starts are granted so far ahead. Later ones are left to the process that asks for them in time. */
export const STARTS_AHEAD_MS = 1_000

/** An extension of a lease may be committed a moment after another transaction has read the lease. */
export const LEASE_GRACE_MS = 1_000

/** After so long a limit is removed that a dead process has left behind: longer than any lease. */
export const UNUSED_MS = 2 * 24 * 60 * 60 * 1_000
