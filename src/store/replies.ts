/**
 * The `replies` capability: the HTTP response that an inline handler has returned, kept with the payload of its event and
 * removed together with it. Needed by `reply`.
 */
import type { ClaimedEvent, EventKey, Reply } from '../model.js'

export interface Replies {
  /** Null when there is none, or its payload was removed. */
  get(key: EventKey): Promise<Reply | null>
}

export interface TransactionReplies {
  /** Replaces an earlier one. Undone when the transaction rolls back, as it does when the lease has expired. */
  put(claimed: ClaimedEvent, reply: Reply): Promise<void>
}
