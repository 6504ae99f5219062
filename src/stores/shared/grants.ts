/** What both stores and their tests know about grants. */

/** Starts are granted so far ahead. Later ones are left to the process that asks for them in time. */
export const STARTS_AHEAD_MS = 1_000

/** A start that lies further ahead, beside two spacings, was granted before the clock of the store was set back. */
export const STARTS_SLACK_MS = 4_000

/** So does the end of a lease of slots that lies further ahead than this or two leases. */
export const LEASE_SLACK_MS = 10 * 60_000

/** An extension of a lease may be committed a moment after another transaction has read the lease. */
export const LEASE_GRACE_MS = 1_000

/** After so long a limit is removed that a dead process has left behind: longer than any lease. */
export const UNUSED_MS = 2 * 24 * 60 * 60 * 1_000
