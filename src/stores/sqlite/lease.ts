/** What a worker does with its leases besides settling: keep them, or hand them back. */
import type { Lease } from '../../model.js'
import type { Connection } from './connection.js'

/** The fence (I4): the token is the one of the latest claim, and its time is not over. */
const extendLease = 'update hookonce_work set next_at = ? where seq = ? and token = ? and next_at > ?'

export interface ExtendArgs {
  readonly leases: readonly Lease[]
  readonly leaseMs: number
}

export function extend(connection: Connection, now: number, { leases, leaseMs }: ExtendArgs): boolean[] {
  return connection.write(() =>
    leases.map(({ seq, token }) => {
      const { changes } = connection.prepare(extendLease).run(now + leaseMs, seq, token, now)
      return changes === 1
    }),
  )
}

const releaseLease = `
  update hookonce_work set attempt = attempt - 1, token = null, worker = null, next_at = ?
  where seq = ? and token = ? and next_at > ?`

export interface ReleaseArgs {
  readonly leases: readonly Lease[]
  readonly delayMs: number
}

export function release(connection: Connection, now: number, { leases, delayMs }: ReleaseArgs): boolean[] {
  return connection.write(() =>
    leases.map(({ seq, token }) => {
      const { changes } = connection.prepare(releaseLease).run(now + delayMs, seq, token, now)
      return changes === 1
    }),
  )
}
