/** The right to run retention: one process at a time, kept in the store, given up when the process dies. */
import { takeKey } from '../once.js'
import type { Store } from '../store.js'

export interface RetentionLease {
  /** Throws when the lease is lost: another process may be at it. */
  insist(): Promise<void>
  release(): Promise<void>
}

const KEY = 'hookonce:retention'
const LEASE_MS = 60_000

/** Null: another process runs retention. */
export async function takeLease(store: Store): Promise<RetentionLease | null> {
  const taken = await takeKey(store, KEY, LEASE_MS)
  return taken.state === 'leased' ? { insist: taken.lease.extend, release: taken.lease.drop } : null
}
