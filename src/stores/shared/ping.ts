/**
 * ping: could a delivery be recorded now? A look at the store while the last record succeeded. After one that failed a
 * look proves nothing (a full disk can still be read), so something is written, until a record succeeds again.
 */
import { isHookonceError } from '../../errors.js'
import type { NewDelivery } from '../../model.js'

export interface Ping {
  /** Runs a record and remembers how it ended. */
  watch<T>(deliveries: readonly NewDelivery[], record: () => Promise<T>): Promise<T>
  ping(): Promise<void>
}

export interface PingParts {
  look(): Promise<void>
  /** Writes this many bytes, durably, as record would. */
  probe(bytes: number): Promise<void>
}

export function createPing({ look, probe }: PingParts): Ping {
  /** The size of a delivery that could not be recorded; null once one could. */
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
      await look()
      if (failed !== null) await probe(failed)
    },
  }
}

/** These say nothing about the store. */
const callersFault: readonly string[] = ['INVALID_INPUT', 'STORE_CLOSED']

/** As much as a delivery of ordinary size needs: a probe of a few bytes would fit where no delivery does. */
const PROBE_BYTES = 64 * 1024
const MOST_PROBE_BYTES = 4 * 1024 * 1024

function sizeOf(deliveries: readonly NewDelivery[]): number {
  const largest = deliveries.reduce((most, { body }) => Math.max(most, body.byteLength), PROBE_BYTES)
  return Math.min(largest, MOST_PROBE_BYTES)
}
