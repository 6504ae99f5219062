/** Rules about rows of the `work` table, the same in every store (docs/decisions/0001-tables.md, first table). */

/**
 * An event is due this far ahead while another event of its lane is before it. It becomes due at once
 * when that event leaves `work`; the hour only limits the wait if this step is ever missed.
 */
export const PARKED_MS = 3_600_000
/** Delay before the first event of a lane is looked at again while another event of the lane is leased. */
export const LOOK_AGAIN_MS = 1_000
