/**
 * How long an event that is behind another of its lane stays out of sight of the claims. The event before it makes it
 * due at once when it leaves `work`; the hour only bounds the wait should that ever be missed.
 */
export const PARKED_MS = 3_600_000
/** How long the first event of a lane waits before the next look while another event of the lane is held. */
export const LOOK_AGAIN_MS = 1_000
