/**
 * The SQLite store: the log in one file, beside the user's own tables. Calls are checked here and run on two threads, one
 * that writes and one that reads, so that disk flushes and long lists do not block the event loop, and lists do not delay
 * acknowledgements.
 */
import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import { type Clock, forwardClock, systemClock } from '../../clock.js'
import { HookonceError, invalid } from '../../errors.js'
import { limits, type NewDelivery, type RecordVerdict } from '../../model.js'
import { anyValue, checkOptions, type Rule, shape } from '../../options.js'
import {
  checkClaim,
  checkCount,
  checkDelayMs,
  checkFilter,
  checkKey,
  checkLeaseMs,
  checkOrder,
  checkSettlement,
  checkTail,
  refusal,
} from '../../store/input.js'
import type { CompleteStore } from '../../store.js'
import { checkedCapabilities, DEFAULT_PAGE } from '../shared/checked.js'
import { duplicateAudit } from '../shared/duplicate-audit.js'
import { decodeCursor } from '../shared/list.js'
import { createPing } from '../shared/ping.js'
import { IN_MEMORY } from './connection.js'
import { pack, unpackVerdicts } from './pack.js'
import type { ArgsOf, ValueOf, Verb } from './protocol.js'
import { subscribers } from './subscribe.js'
import { startThread, type ThreadLink } from './thread-link.js'
import { beginTransaction, type SqliteTx } from './transaction.js'

export type { SqliteTx } from './transaction.js'

const optionNames = shape({
  clock: anyValue,
  busyTimeoutMs: anyValue,
  transactionTimeoutMs: anyValue,
  duplicateFlushMs: anyValue,
  maxBytes: anyValue,
  scanLimit: anyValue,
} satisfies Record<keyof SqliteOptions, Rule>)

export interface SqliteOptions {
  /** The host's clock. The time of the log never goes back behind the newest time written: see `connection.ts`. */
  readonly clock?: Clock
  /** How long a write waits for another process before STORE_BUSY. Default 5,000. */
  readonly busyTimeoutMs?: number
  /** A handler's transaction that is idle for this long is rolled back. Default 5,000. */
  readonly transactionTimeoutMs?: number
  /** How long duplicates are counted in memory before they are written. Default 1,000. */
  readonly duplicateFlushMs?: number
  /** Size limit of the file. Beyond it: STORE_FULL (503 to senders). Default: limited by the disk only. */
  readonly maxBytes?: number
  /** Rows that one `list` reads at most. Default 10,000. */
  readonly scanLimit?: number
}

/** The log at `path`, a file or `:memory:`. It is opened on first use. */
export function sqlite(path: string, options: SqliteOptions = {}): CompleteStore<SqliteTx> {
  if (typeof path !== 'string' || path === '' || path.includes('\0')) {
    throw invalid('sqlite(path): `path`', 'must be a file name or :memory:')
  }
  checkOptions('sqlite(path, options)', options, optionNames)
  const { clock = systemClock, busyTimeoutMs = 5_000, transactionTimeoutMs = 5_000 } = options
  const { duplicateFlushMs = 1_000, scanLimit = 10_000 } = options
  checkCount('busyTimeoutMs', busyTimeoutMs, 600_000)
  checkCount('transactionTimeoutMs', transactionTimeoutMs, 600_000)
  checkCount('scanLimit', scanLimit, 10_000_000)
  const { maxBytes = null } = options
  if (maxBytes !== null) checkCount('maxBytes', maxBytes, Number.MAX_SAFE_INTEGER)

  const file = path === IN_MEMORY ? path : resolve(path)
  const logClock = forwardClock(clock)
  const now = () => logClock.now()
  /** A file can be replaced by an earlier copy whenever no process has it open: what was known of it ends with the process. */
  const opening = randomUUID()
  let writer: ThreadLink | undefined
  let reader: ThreadLink | undefined
  let closed: Promise<void> | undefined

  const start = (readOnly: boolean) =>
    startThread(
      { path: file, busyTimeoutMs, transactionTimeoutMs, readOnly, maxBytes },
      { onNews: () => listeners.wakeAll(), onLogTime: logClock.atLeast },
    )
  const writerThread = () => {
    insistOnOpen()
    writer ??= start(false)
    return writer
  }
  const readerThread = () => {
    insistOnOpen()
    if (file === IN_MEMORY) return writerThread()
    reader ??= start(true)
    return reader
  }
  const write = <V extends Verb>(verb: V, args: ArgsOf<V>): Promise<ValueOf<V>> =>
    writerThread().call(verb, now(), args)
  const read = <V extends Verb>(verb: V, args: ArgsOf<V>): Promise<ValueOf<V>> =>
    readerThread().call(verb, now(), args)

  const audit = duplicateAudit({
    // Not through `write`, which throws after `close` was called; the last flush comes later than that.
    write: async (notes) => writer!.call('noteDuplicates', now(), notes),
    delayMs: duplicateFlushMs,
  })

  const health = createPing({
    async look() {
      await write('look', undefined)
      return now()
    },
    probe: (bytes) => write('probe', bytes),
  })

  const listeners = subscribers(async (on) => {
    // No other process can write to a log in memory, and a closed store has nothing to watch.
    if (file !== IN_MEMORY && (on || closed === undefined)) await read('watch', on)
  })

  function insistOnOpen(): void {
    if (closed !== undefined) throw new HookonceError('STORE_CLOSED')
  }

  async function record(deliveries: readonly NewDelivery[]): Promise<RecordVerdict[][]> {
    insistOnOpen()
    if (deliveries.length > limits.recordBatch) {
      throw invalid('A batch', `takes at most ${limits.recordBatch} deliveries, and has ${deliveries.length}`)
    }
    const verdicts = deliveries.map(refusal)
    const accepted = deliveries.filter((_, index) => verdicts[index] === null)
    if (accepted.length === 0) return verdicts as RecordVerdict[][]
    const at = now()
    const packed = pack(accepted)
    const answer = await health.watch(accepted, () =>
      writerThread().call('record', at, packed, [packed.bytes.buffer as ArrayBuffer]),
    )
    const judged = unpackVerdicts(answer)
    let next = 0
    return deliveries.map(({ events, receivedAt = at }, index) => {
      const refused = verdicts[index]
      if (refused) return refused
      const own = judged.slice(next, next + events.length)
      next += events.length
      for (const verdict of own)
        if (verdict.status === 'duplicate' && verdict.equal) audit.note(verdict.seq, Math.trunc(receivedAt))
      return own
    })
  }

  async function close(): Promise<void> {
    audit.stop()
    listeners.clear()
    if (writer) await writer.call('abandon', now(), null).catch(ignore)
    // A failure here loses only the duplicate counts of the last second, so it must not fail `close`.
    if (writer) await audit.flush().catch(ignore)
    // The reader closes first: the last connection to close writes the WAL back into the file, and that must be the writer.
    if (reader) await reader.call('close', now(), null).catch(ignore)
    if (writer) await writer.call('close', now(), null).catch(ignore)
  }

  return {
    name: `sqlite:${path}`,
    singleWriter: true,
    migrate: async () => write('migrate', undefined),
    record,
    async claim(claim) {
      checkClaim(claim)
      const { worker, limit, leaseMs, sources, except, event } = claim
      return write('claim', {
        ...{ worker, limit, leaseMs },
        ...(sources && { sources }),
        ...(except && { except }),
        ...(event && { event }),
      })
    },
    async extend(leases, leaseMs) {
      checkLeaseMs(leaseMs)
      return leases.length === 0 ? [] : write('extend', { leases, leaseMs })
    },
    async settle(settlements) {
      settlements.forEach(checkSettlement)
      return settlements.length === 0 ? [] : write('settle', settlements)
    },
    async release(leases, delayMs = 0) {
      checkDelayMs('delayMs', delayMs)
      return leases.length === 0 ? [] : write('release', { leases, delayMs: Math.round(delayMs) })
    },
    transaction: async () => beginTransaction(writerThread(), now),
    async subscribe(wake) {
      insistOnOpen()
      return listeners.add(wake)
    },
    async operate(order) {
      checkOrder(order)
      return order.events.length === 0 ? [] : write('operate', order)
    },
    async get(key) {
      checkKey(key)
      return read('get', key)
    },
    async list(filter, { limit = DEFAULT_PAGE, cursor = null } = {}) {
      checkFilter(filter)
      checkCount('limit', limit, limits.listPage)
      const below = cursor === null ? null : decodeCursor(cursor)
      return read('list', { filter, limit, below, scanLimit })
    },
    ping: health.ping,
    stats: async () => read('stats', undefined),
    async tail(options) {
      checkTail(options)
      return read('tail', options)
    },
    close() {
      closed ??= close()
      return closed
    },
    ...checkedCapabilities({
      keys: {
        effect: async (step) => write('effect', step),
        key: async (step) => write('key', step),
        watermark: async (source, key) => read('watermark', { source, key }),
        async place() {
          await read('look', undefined) // throws when the file was replaced while it is open
          return opening
        },
      },
      retention: {
        prune: async (prune) => (prune.dryRun ? read('countPrunable', prune) : write('prune', prune)),
        // SQLite has no partitions to create or drop.
        async maintain({ payloadsBefore }) {
          insistOnOpen()
          // Ages are measured by the host's clock, so that a log whose time is ahead removes nothing too early.
          const at = Math.trunc(clock.now())
          return { dropped: [], created: [], ahead: null, pruneBefore: payloadsBefore, busy: false, now: at }
        },
      },
      archive: {
        export: async (range) => read('export', range),
        archived: async (receipts) => write('archived', receipts),
        receipts: async (day) => read('receipts', day),
        restore: async (deliveries) => write('restore', deliveries),
        erase: async (erase) => (erase.dryRun ? read('countErasable', erase) : write('erase', erase)),
      },
      audit: {
        append: async (entries) => write('audit', entries),
        list: async (filter, { limit = DEFAULT_PAGE, cursor = null } = {}) =>
          read('audits', { filter, limit, below: cursor === null ? null : decodeCursor(cursor), scanLimit }),
      },
      inspect: {
        payload: async (key) => read('payload', key),
        attempts: async (key) => read('attempts', key),
        effects: async (key) => read('effects', key),
        conflict: async (key) => read('conflict', key),
        deadLetters: async (options) => read('deadLetters', options),
        leases: async () => read('leases', undefined),
        types: async (limit) => read('types', limit),
        idsFrom: async (prefix, limit) => read('idsFrom', { prefix, limit }),
        report: async () => read('inspect', { path: file }),
      },
      imports: {
        add: async (events) => write('importEvents', events),
        known: async (keys) => read('knownEvents', keys),
      },
      duplicates: {
        count(repeats) {
          insistOnOpen()
          if (repeats.length === 0) return
          writerThread() // the flush needs it, and no other call may have started it yet
          for (const { seq, at } of repeats) audit.note(seq, Math.trunc(at))
        },
        async flush() {
          insistOnOpen()
          await audit.flush()
        },
      },
      history: {
        add: async (note) => write('addHistory', note),
        read: async (range) => read('readHistory', range),
        processes: async () => read('processes', undefined),
        handled: async () => read('handled', undefined),
      },
    }),
  }
}

function ignore(): void {}
