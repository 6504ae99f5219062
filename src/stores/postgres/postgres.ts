/** The PostgreSQL store. Each verb has a file with its SQL; `connection/` talks to the server. */
import { HookonceError } from '../../errors.js'
import type { Logger } from '../../log.js'
import type { RecordVerdict } from '../../model.js'
import type { CompleteStore } from '../../store.js'
import { checked } from '../shared/checked.js'
import { DEFAULT_PAGE } from '../shared/list.js'
import { archived, exportDeliveries, receiptsOf, restore } from './archive.js'
import { listAudits, writeAudits } from './audit.js'
import { claimer } from './claim.js'
import { Database } from './connection/database.js'
import { Listener } from './connection/listener.js'
import type { PostgresOptions } from './connection/pools.js'
import { inSchema } from './connection/statement.js'
import { warnOfFewConnections } from './connections.js'
import { copyToConsumer, listConsumers, openConsumers } from './consumers.js'
import { conflictOf, duplicateCounts, openConflictsOf } from './duplicates.js'
import { erase } from './erase.js'
import { deadLetters, effectsOf, idsFrom, leasesOf, typesOf } from './examine.js'
import { listLimits, takeGrants } from './grants.js'
import { addHistory, handled, processes, readHistory } from './history.js'
import { importEvents, knownEvents } from './imports.js'
import { inspect } from './inspect.js'
import { effect, keyStep, placeOf, watermarkOf } from './keys.js'
import { Heartbeats, release } from './leases.js'
import { listEvents } from './list.js'
import { maintain } from './maintain.js'
import { inOneTransaction, migrate, noteAsSql } from './migrate.js'
import { operate } from './operate.js'
import { listPauses, pause, resume } from './pauses.js'
import { pinger } from './ping.js'
import { pruner } from './prune.js'
import { attemptsOf, getEvent, payloadOf, tail } from './read.js'
import { noteReconcile, reconciles } from './reconciles.js'
import { recorder } from './record.js'
import { replyOf } from './replies.js'
import { migrations } from './schema.js'
import { settle } from './settle.js'
import { oldestUnfinished, standingsOf } from './standings.js'
import { statsOf } from './stats.js'
import { beginTransaction, type PostgresTx } from './transaction.js'
import { writerOf } from './why.js'

export { asClient, type TransactionClient } from './connection/as-client.js'
export type { PostgresOptions } from './connection/pools.js'
export type { PostgresTx } from './transaction.js'

export function postgres(options: PostgresOptions | string): CompleteStore<PostgresTx> {
  const settings = typeof options === 'string' ? { url: options } : options
  const db = new Database(settings)
  const duplicates = duplicateCounts(db)
  const record = recorder(db, duplicates)
  const health = pinger(db)
  const listener = new Listener(db)
  const heartbeats = new Heartbeats(db)
  let closing: Promise<void> | undefined
  let log: Logger | undefined

  return checked({
    name: `postgres:${db.schema}`,
    singleWriter: false,
    logTo(logger) {
      log = logger
      db.sessions.logTo(logger)
    },
    async migrate() {
      const report = await migrate(db)
      if (log) await warnOfFewConnections(db, log).catch(() => {}) // a log that works is opened
      return report
    },
    async record(deliveries, claim) {
      const verdicts = await health.watch(deliveries, () => record(deliveries, claim))
      if (verdicts.some((delivery) => delivery.some(isForOthers))) listener.notify()
      return verdicts
    },
    claim: claimer(db),
    extend: (leases, leaseMs) => heartbeats.extend(leases, leaseMs),
    settle: (settlements) => settle(db, settlements),
    release: (leases, delayMs = 0) => release(db, leases, delayMs),
    transaction: (transactionOptions) => beginTransaction(db, heartbeats, transactionOptions),
    subscribe: (wake) => listener.subscribe(wake),
    operate: (action) => operate(db, action),
    get: (key) => getEvent(db, key),
    list: (filter, { limit = DEFAULT_PAGE, cursor = null } = {}) => listEvents(db, filter, limit, cursor),
    ping: health.ping,
    stats: () => statsOf(db),
    tail: (tailOptions) => tail(db, tailOptions),
    close() {
      closing ??= closeAll()
      return closing
    },
    keys: {
      effect: (step) => effect(db.query, step),
      key: (step) => keyStep(db, step),
      watermark: (source, key) => watermarkOf(db, source, key),
      place: () => placeOf(db),
    },
    retention: {
      prune: pruner(db),
      maintain: (maintainOptions) => maintain(db, maintainOptions),
    },
    archive: {
      export: (exportOptions) => exportDeliveries(db, exportOptions),
      archived: (receipts) => archived(db, receipts),
      receipts: (day) => receiptsOf(db, day),
      restore: (deliveries) => restore(db, deliveries),
      erase: (eraseOptions) => erase(db, eraseOptions),
    },
    audit: {
      append: (entries) => writeAudits(db.query, entries),
      list: (filter, { limit = DEFAULT_PAGE, cursor = null } = {}) => listAudits(db, filter, limit, cursor),
    },
    inspect: {
      payload: (key) => payloadOf(db, key),
      attempts: (key) => attemptsOf(db, key),
      effects: (key) => effectsOf(db, key),
      conflict: (key, hash) => conflictOf(db, key, hash),
      openConflicts: (limit) => openConflictsOf(db, limit),
      deadLetters: (deadOptions) => deadLetters(db, deadOptions),
      leases: () => leasesOf(db),
      standings: (seqs) => standingsOf(db, seqs),
      oldest: (limit) => oldestUnfinished(db, limit),
      types: (limit) => typesOf(db, limit),
      idsFrom: (prefix, limit) => idsFrom(db, prefix, limit),
      writerOf: (row) => writerOf(db, row),
      report: () => inspect(db),
    },
    imports: {
      add: (events) => importEvents(db, events),
      known: (keys) => knownEvents(db, keys),
    },
    duplicates: {
      count(repeats) {
        if (closing) throw new HookonceError('STORE_CLOSED')
        for (const { seq, at } of repeats) duplicates.note(seq, at)
      },
      flush: () => duplicates.flush(),
    },
    history: {
      add: (note) => addHistory(db, note),
      read: (range) => readHistory(db, range),
      processes: () => processes(db),
      handled: () => handled(db),
    },
    consumers: {
      open: (consumers) => openConsumers(db, consumers),
      list: () => listConsumers(db),
      async copy(copy) {
        const copied = await copyToConsumer(db, copy)
        if (copied !== null && copied > 0) listener.notify()
        return copied !== null
      },
    },
    reconciles: {
      note: (run) => noteReconcile(db, run),
      runs: (filter) => reconciles(db, filter),
    },
    replies: { get: (key) => replyOf(db, key) },
    grants: {
      take: (holder, requests) => takeGrants(db, holder, requests),
      list: (options) => listLimits(db, options),
    },
    pauses: {
      pause: async (wanted) => listener.tellOfPause(await pause(db, wanted)),
      resume: async (wanted) => listener.tellOfPause(await resume(db, wanted)),
      list: () => listPauses(db),
    },
  })

  async function closeAll(): Promise<void> {
    duplicates.stop()
    await listener.close()
    try {
      await duplicates.flush()
    } catch (error) {
      // An unreachable database must not keep a process from ending. Only counts of duplicates are lost.
      if (!(error instanceof HookonceError)) throw error
    } finally {
      await db.close()
    }
  }
}

function isForOthers(verdict: RecordVerdict): boolean {
  return verdict.status === 'recorded' && verdict.leasedAt === undefined
}

/**
 * The migrations, for users who apply them with another tool. Each one is a transaction, so its indexes block writers
 * while they are built: on a large log let hookonce migrate.
 */
export function postgresMigrationsSql(schema = 'hookonce'): string {
  const toSchema = inSchema(schema)
  return migrations
    .map((migration) => {
      const { number, name, sql } = migration
      return toSchema(
        `-- ${number}: ${name}\nbegin;\n${inOneTransaction(sql).trim()}\n${noteAsSql(migration)}\ncommit;\n`,
      )
    })
    .join('\n')
}
