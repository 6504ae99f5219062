/**
 * The SQLite store: the log in one file, beside the user's own tables. Each call is a message to a thread (threads.ts),
 * where verbs.ts names the function that does the work.
 */
import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import { type Clock, systemClock } from '../../clock.js'
import { type Duration, msOf } from '../../duration.js'
import { invalid } from '../../errors.js'
import type { NewDelivery, RecordClaim, RecordVerdict } from '../../model.js'
import { checkOptions, clockRule, duration, type Rule, shape, whole } from '../../options.js'
import type { CompleteStore } from '../../store.js'
import { checked } from '../shared/checked.js'
import { DuplicateAudit } from '../shared/duplicate-audit.js'
import { DEFAULT_PAGE } from '../shared/list.js'
import { createPing, type Ping } from '../shared/ping.js'
import { IN_MEMORY } from './connection.js'
import { pack } from './pack.js'
import { subscribers } from './subscribe.js'
import { Threads } from './threads.js'
import { beginTransaction, type SqliteTx } from './transaction.js'

export type { SqliteTx } from './transaction.js'

export interface SqliteOptions {
  /** The host's clock. The time of the log never goes back behind the newest time written: see `connection.ts`. */
  readonly clock?: Clock
  /** How long a write waits for another process before STORE_BUSY. Default `'5s'`. */
  readonly busyTimeout?: Duration
  /** A handler's transaction that is idle for this long is rolled back. Default `'5s'`. */
  readonly transactionTimeout?: Duration
  /** Size limit of the file. Beyond it: STORE_FULL (503 to senders). Default: limited by the disk only. */
  readonly maxBytes?: number
}

const sqliteRule = shape({
  clock: clockRule,
  busyTimeout: duration(1, 600_000),
  transactionTimeout: duration(1, 600_000),
  maxBytes: whole(1),
} satisfies Record<keyof SqliteOptions, Rule>)

/** The log at `path`, a file or `:memory:`. It is opened on first use. */
export function sqlite(path: string, options: SqliteOptions = {}): CompleteStore<SqliteTx> {
  if (typeof path !== 'string' || path === '' || path.includes('\0')) {
    throw invalid('sqlite(path): `path`', 'must be a file name or :memory:')
  }
  checkOptions('sqlite(path, options)', options, sqliteRule)
  const { clock = systemClock, maxBytes = null } = options
  const busyTimeoutMs = msOf(options.busyTimeout, '5s')
  const transactionTimeoutMs = msOf(options.transactionTimeout, '5s')

  const file = path === IN_MEMORY ? path : resolve(path)
  const threads = new Threads({
    path: file,
    busyTimeoutMs,
    transactionTimeoutMs,
    maxBytes,
    clock,
    onNews: (news) => listeners.wakeAll(news),
  })
  const { read, write, now } = threads
  const audit = new DuplicateAudit((notes) => threads.writeLate('noteDuplicates', notes))
  const health = createPing({
    async look() {
      await write('look', undefined)
      return now()
    },
    probe: (bytes) => write('probe', bytes),
  })
  const listeners = subscribers(async (on) => {
    // No other process can write to a log in memory, and a closed store has nothing to watch.
    if (file !== IN_MEMORY && (on || !threads.isClosed)) await read('watch', on)
  })
  /** While no process has the file open, an earlier copy can replace it: a cache of the log ends with the process. */
  const opening = randomUUID()

  return checked({
    name: `sqlite:${path}`,
    singleWriter: true,
    migrate: () => write('migrate', undefined),
    record: (deliveries, claim) => record(threads, health, audit, deliveries, claim),
    claim: (claim) => write('claim', claim),
    extend: (leases, leaseMs) => write('extend', { leases, leaseMs }),
    settle: (settlements) => write('settle', settlements),
    release: (leases, delayMs = 0) => write('release', { leases, delayMs: Math.round(delayMs) }),
    transaction: async () => beginTransaction(threads.writer()),
    async subscribe(wake) {
      threads.insistOnOpen()
      return listeners.add(wake)
    },
    operate: (action) => write('operate', action),
    get: (key) => read('get', key),
    list: async (filter, { limit = DEFAULT_PAGE, cursor = null } = {}) =>
      read('list', { filter, limit, cursor }),
    ping: health.ping,
    stats: () => read('stats', undefined),
    tail: (tailOptions) => read('tail', tailOptions),
    close() {
      audit.stop()
      listeners.clear()
      return threads.close(() => audit.flush())
    },
    keys: {
      effect: (step) => write('effect', step),
      key: (step) => write('key', step),
      watermark: (source, key) => read('watermark', { source, key }),
      async place() {
        await read('look', undefined) // throws when the file was replaced while it is open
        return opening
      },
    },
    retention: {
      prune: (prune) => (prune.dryRun ? read('countPrunable', prune) : write('prune', prune)),
      async maintain({ payloadsBefore }) {
        threads.insistOnOpen()
        // Ages are measured by the host's clock, so that a log whose time is ahead removes nothing too early.
        const at = Math.trunc(clock.now())
        return { dropped: [], created: [], ahead: null, pruneBefore: payloadsBefore, busy: false, now: at }
      },
    },
    archive: {
      export: (range) => read('export', range),
      archived: (receipts) => write('archived', receipts),
      receipts: (day) => read('receipts', day),
      restore: (deliveries) => write('restore', deliveries),
      erase: (erase) => (erase.dryRun ? read('countErasable', erase) : write('erase', erase)),
    },
    audit: {
      append: (entries) => write('audit', entries),
      list: async (filter, { limit = DEFAULT_PAGE, cursor = null } = {}) =>
        read('audits', { filter, limit, cursor }),
    },
    inspect: {
      payload: (key) => read('payload', key),
      attempts: (key) => read('attempts', key),
      effects: (key) => read('effects', key),
      conflict: (key, hash) => read('conflict', { key, hash: hash ?? null }),
      openConflicts: (limit) => read('openConflicts', limit),
      deadLetters: (options) => read('deadLetters', options),
      leases: () => read('leases', undefined),
      standings: (seqs) => read('standings', seqs),
      oldest: (limit) => read('oldestUnfinished', limit),
      types: (limit) => read('types', limit),
      idsFrom: (prefix, limit) => read('idsFrom', { prefix, limit }),
      report: () => read('inspect', { path: file }),
    },
    imports: {
      add: (events) => write('importEvents', events),
      known: (keys) => read('knownEvents', keys),
    },
    duplicates: {
      count(repeats) {
        threads.insistOnOpen()
        if (repeats.length === 0) return
        threads.writer() // the flush needs it, and no other call may have started it yet
        for (const { seq, at } of repeats) audit.note(seq, Math.trunc(at))
      },
      async flush() {
        threads.insistOnOpen()
        await audit.flush()
      },
    },
    history: {
      add: (note) => write('addHistory', note),
      read: (range) => read('readHistory', range),
      processes: () => read('processes', undefined),
      handled: () => read('handled', undefined),
    },
    consumers: {
      open: (consumers) => write('openConsumers', consumers),
      list: () => read('listConsumers', undefined),
      copy: (copy) => write('copyToConsumer', copy),
    },
    reconciles: {
      note: (run) => write('noteReconcile', run),
      runs: (filter) => read('reconciles', filter),
    },
    replies: { get: (key) => read('reply', key) },
    grants: {
      take: (holder, requests) => write('takeGrants', { holder, requests }),
      list: (options) => read('listLimits', options),
    },
    pauses: {
      pause: (wanted) => write('pause', wanted),
      resume: (wanted) => write('resume', wanted),
      list: () => read('listPauses', undefined),
    },
  })
}

async function record(
  threads: Threads,
  health: Ping,
  audit: DuplicateAudit,
  deliveries: readonly NewDelivery[],
  claim?: RecordClaim,
): Promise<RecordVerdict[][]> {
  const writer = threads.writer()
  const at = threads.now()
  const packed = pack(deliveries, claim)
  const verdicts = await health.watch(deliveries, () =>
    writer.call('record', packed, [packed.bytes.buffer as ArrayBuffer]),
  )
  let next = 0
  return deliveries.map(({ events, origin, receivedAt = at }) =>
    events.map(() => {
      const verdict = verdicts[next++]!
      const isRepeat = verdict.status === 'duplicate' && verdict.equal && origin !== 'backfill'
      if (isRepeat) audit.note(verdict.seq, Math.trunc(receivedAt))
      return verdict
    }),
  )
}
