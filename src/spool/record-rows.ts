/**
 * Records rows of the spool. A row that cannot be recorded is set aside, and the others go on: it cannot be decrypted, the
 * store refuses it, or its insert fails although the store says that it can record.
 */
import type { Clock } from '../clock.js'
import { codeOf, type ErrorCode, HookonceError, isHookonceError } from '../errors.js'
import type { NewDelivery, RecordVerdict } from '../model.js'
import type { LogRecorder } from '../recorder.js'
import { asDelivery, type SpoolRow } from './row.js'
import type { StoredRow } from './spool-file.js'

export interface RecordRowsDeps {
  readonly clock: Clock
  readonly drainTo: LogRecorder
  /** `ping` of the store. */
  probe(): Promise<number>
}

export interface RecordedRow {
  readonly id: number
  readonly delivery: NewDelivery
  readonly verdicts: RecordVerdict[]
}

export interface FailedRow {
  readonly id: number
  readonly source: string
  readonly code: string
  readonly detail: string
}

export interface RowsResult {
  readonly recorded: RecordedRow[]
  readonly failed: FailedRow[]
  /** The store is unavailable: rows that are in neither list wait in the file. Null = every row is in a list. */
  readonly storeError: unknown
}

interface ReadRow {
  readonly row: StoredRow
  readonly delivery: NewDelivery
}

/** A row is at fault when it has failed this often, each time alone, while the store said that it could record. */
const SUSPECT_AFTER = 10
/** An arrival is dated back no further: a clock that was set in the meantime must not make retention forget a new event. */
const MAX_AGE_MS = 24 * 60 * 60 * 1_000

export function rowRecorder({ clock, drainTo, probe }: RecordRowsDeps) {
  let suspect = { id: 0, failures: 0 }

  return async function recordRows(rows: readonly StoredRow[]): Promise<RowsResult> {
    const recorded: RecordedRow[] = []
    const failed: FailedRow[] = []

    function read(storeNow: number): ReadRow[] {
      const readable: ReadRow[] = []
      for (const row of rows)
        try {
          readable.push({ row, delivery: asDelivery(row, arrivedAt(row, storeNow)) })
        } catch (error) {
          failed.push(failure(row, unreadable(error)))
        }
      return readable
    }

    async function record(items: readonly ReadRow[]): Promise<void> {
      try {
        const verdicts = await drainTo.record(items.map(({ delivery }) => delivery))
        for (const [i, { row, delivery }] of items.entries()) {
          // The row stays as long as one of its events is refused. The others are duplicates when it is recorded again.
          const refused = verdicts[i]!.find((verdict) => verdict.status === 'refused')
          if (refused)
            failed.push({ id: row.id, source: row.source, code: refused.code, detail: refused.detail })
          else recorded.push({ id: row.id, delivery, verdicts: verdicts[i]! })
        }
      } catch (error) {
        if (items.length > 1) {
          if (isOfTheStore(error)) throw error
          for (const item of items) await record([item])
        } else if (await isAtFault(items[0]!.row, error)) failed.push(failure(items[0]!.row, error))
        else throw error
      }
    }

    try {
      const readable = read(await probe())
      if (readable.length > 0) await record(readable)
    } catch (error) {
      return { recorded, failed, storeError: error }
    }
    return { recorded, failed, storeError: null }
  }

  async function isAtFault({ id }: StoredRow, error: unknown): Promise<boolean> {
    suspect = { id, failures: suspect.id === id ? suspect.failures + 1 : 1 }
    if (isOfTheStore(error) && suspect.failures < SUSPECT_AFTER) return false
    await probe()
    return true
  }

  /** The clock of this node may be wrong. It measures only the time in the spool. */
  function arrivedAt({ receivedAt }: SpoolRow, storeNow: number): number {
    const ageMs = clock.now() - receivedAt
    return Math.trunc(storeNow - Math.min(Math.max(ageMs, 0), MAX_AGE_MS))
  }
}

const ofTheStore: readonly ErrorCode[] = [
  'STORE_UNAVAILABLE',
  'STORE_BUSY',
  'POOL_EXHAUSTED',
  'STORE_FULL',
  'STORE_CLOSED',
  'STORE_URL',
  'DRIVER_MISSING',
  'SCHEMA_MISSING',
  'SCHEMA_NEWER',
  'COMMIT_UNKNOWN',
]

/** Such an error is rarely about one delivery. */
function isOfTheStore(error: unknown): boolean {
  return isHookonceError(error) && ofTheStore.includes(error.code)
}

function failure({ id, source }: StoredRow, error: unknown): FailedRow {
  return { id, source, code: codeOf(error), detail: isHookonceError(error) ? error.message : 'unexpected' }
}

/** The key may be missing for now only. */
function unreadable(error: unknown): HookonceError {
  const problem = `a delivery in it cannot be read (${error instanceof Error ? error.message : 'unknown'})`
  return new HookonceError('SPOOL_FAILED', { path: 'spool', problem })
}
