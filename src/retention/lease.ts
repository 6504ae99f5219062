/** The right to run retention: one process at a time, kept in the store, given up when the process dies. */
import { HookonceError } from '../errors.js'
import type { Store } from '../store.js'

export interface RetentionLease {
  /** Throws when the lease is lost: another process may be at it. */
  insist(): Promise<void>
  release(): Promise<void>
}

const KEY = 'hookonce:retention'
const LEASE_MS = 60_000

/** Null: another process is at it. */
export async function takeLease(store: Store): Promise<RetentionLease | null> {
  const taken = await store.key({ step: 'take', key: KEY, leaseMs: LEASE_MS })
  if (taken.state !== 'taken') return null
  const { token } = taken
  const step = { key: KEY, token } as const
  const beat = setInterval(() => {
    store.key({ step: 'extend', ...step, leaseMs: LEASE_MS }).catch(() => {}) // the next beat, or `insist`
  }, LEASE_MS / 3)
  beat.unref()
  return {
    async insist() {
      const { state } = await store.key({ step: 'extend', ...step, leaseMs: LEASE_MS })
      if (state === 'fenced') throw new HookonceError('KEY_LOST', { key: KEY })
    },
    async release() {
      clearInterval(beat)
      await store.key({ step: 'drop', ...step }).catch(() => {}) // it runs out by itself
    },
  }
}
