/**
 * Leases that no heartbeat may touch. A transaction above READ COMMITTED sees its work row as it was at its first statement;
 * if a heartbeat changes the row after that, the transaction cannot settle any more (40001). Its leases are extended once,
 * for as long as its handler may take, and then left alone.
 */
import type { Lease } from '../../model.js'
import type { Database } from './database.js'
import { extend } from './settle.js'

export interface PinnedLeases {
  /** The heartbeat. A pinned lease counts as alive: the settlement finds out whether it is. */
  extend(leases: readonly Lease[], leaseMs: number): Promise<boolean[]>
  /** Extends the leases, and keeps heartbeats away until `unpin`. Never fails. */
  pin(leases: readonly Lease[], forMs: number): Promise<void>
  unpin(leases: readonly Lease[]): void
}

export function pinnedLeases(db: Database): PinnedLeases {
  const pinned = new Set<string>()
  const underWay = new Set<Promise<unknown>>()

  return {
    async extend(leases, leaseMs) {
      const isPinned = leases.map(({ token }) => pinned.has(token))
      const sent = extend(
        db,
        leases.filter((_, i) => !isPinned[i]),
        leaseMs,
      )
      const ended: Promise<unknown> = sent.catch(() => {}).finally(() => underWay.delete(ended))
      underWay.add(ended)
      const extended = (await sent).values()
      return isPinned.map((one) => one || extended.next().value!)
    },
    async pin(leases, forMs) {
      for (const { token } of leases) pinned.add(token)
      // One that was sent before would change the row after the first statement of the transaction.
      await Promise.all(underWay)
      await extend(db, leases, forMs).catch(() => {})
    },
    unpin(leases) {
      for (const { token } of leases) pinned.delete(token)
    },
  }
}
