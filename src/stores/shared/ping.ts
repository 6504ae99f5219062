/**
 * Checks whether a delivery could be recorded now, by a read while the last record succeeded. After a failed record a read
 * proves nothing (a full disk can still be read), so ping writes as well until a record succeeds.
 */
import { isHookonceError } from '../../errors.js'
import type { NewDelivery } from '../../model.js'

export interface Ping {
  watch<T>(deliveries: readonly NewDelivery[], record: () => Promise<T>): Promise<T>
  ping(): Promise<number>
}

export interface PingDeps {
  look(): Promise<number>
  /** Writes this many bytes as durably as `record` does. */
  probe(bytes: number): Promise<void>
}

export function createPing({ look, probe }: PingDeps): Ping {
  /** Bytes of the last delivery that could not be recorded; null after a record that succeeded. */
  let failed: number | null = null
  return {
    async watch(deliveries, record) {
      try {
        const value = await record()
        failed = null
        return value
      } catch (error) {
        if (!isHookonceError(error) || !callersFault.includes(error.code)) failed = sizeOf(deliveries)
        throw error
      }
    },
    async ping() {
      const now = await look()
      if (failed !== null) await probe(failed)
      return now
    },
  }
}

const callersFault: readonly string[] = ['INVALID_INPUT', 'STORE_CLOSED']

/** A probe of a few bytes could succeed on a disk that has no room for a usual delivery. */
const PROBE_BYTES = 64 * 1024
const MOST_PROBE_BYTES = 4 * 1024 * 1024

function sizeOf(deliveries: readonly NewDelivery[]): number {
  const largest = deliveries.reduce((most, { body }) => Math.max(most, body.byteLength), PROBE_BYTES)
  return Math.min(largest, MOST_PROBE_BYTES)
}
