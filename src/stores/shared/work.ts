/** Rules about rows of the `work` table (docs/decisions/0001-tables.md, first table). */

/**
 * An event is due this far ahead while another event of its lane is before it, and at once when that event leaves `work`.
 * The hour only limits the wait if this step is ever missed.
 */
export const PARKED_MS = 3_600_000
/** The first event of a lane is looked at again after this delay while another event of the lane is leased. */
export const LOOK_AGAIN_MS = 1_000
