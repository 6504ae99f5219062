/**
 * The PostgreSQL store. Each verb has a file in this folder with its SQL; this file implements the contract with them:
 * it checks the input and calls the verb.
 */
import { HookonceError } from '../../errors.js'
import { limits } from '../../model.js'
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
} from '../../store/input.js'
import type { CompleteStore } from '../../store.js'
import { checkedCapabilities, DEFAULT_PAGE } from '../shared/checked.js'
import { archived, exportDeliveries, receiptsOf, restore } from './archive.js'
import { listAudits, writeAudits } from './audit.js'
import { claimer } from './claim.js'
import { conflictOf } from './conflicts.js'
import { openDatabase } from './database.js'
import { duplicateCounts } from './duplicates.js'
import { erase } from './erase.js'
import { deadLetters, effectsOf, idsFrom, leasesOf, typesOf } from './examine.js'
import { addHistory, handled, processes, readHistory } from './history.js'
import { importEvents, knownEvents } from './imports.js'
import { inspect } from './inspect.js'
import { effect, keyStep, placeOf, watermarkOf } from './keys.js'
import { listEvents } from './list.js'
import { maintain } from './maintain.js'
import { inOneTransaction, migrate, noteAsSql } from './migrate.js'
import { createNotifications } from './notifications.js'
import { operate } from './operate.js'
import { checkUnit } from './partitions.js'
import { pinger } from './ping.js'
import { pinnedLeases } from './pinned-leases.js'
import type { PostgresOptions } from './pools.js'
import { prune } from './prune.js'
import { attemptsOf, getEvent, payloadOf, tail } from './read.js'
import { recorder } from './record.js'
import { migrations } from './schema.js'
import { release, settle } from './settle.js'
import { inSchema } from './statement.js'
import { statsOf } from './stats.js'
import { beginTransaction, type PostgresTx } from './transaction.js'

export { asClient, type TransactionClient } from './as-client.js'
export type { PostgresOptions } from './pools.js'
export type { PostgresTx } from './transaction.js'

export function postgres(options: PostgresOptions | string): CompleteStore<PostgresTx> {
  const settings = typeof options === 'string' ? { url: options } : options
  const db = openDatabase(settings)
  const duplicates = duplicateCounts(db, settings.duplicateFlushMs ?? 1_000)
  const unit = checkUnit(settings.partitions ?? 'month')
  const record = recorder(db, duplicates, unit)
  const health = pinger(db)
  const claim = claimer(db)
  const notifications = createNotifications(db)
  const heartbeats = pinnedLeases(db)
  let closing: Promise<void> | undefined

  return {
    name: `postgres:${db.schema}`,
    singleWriter: false,
    logTo: db.sessions.logTo,
    migrate: () => migrate(db),
    async record(deliveries) {
      if (deliveries.length === 0) return []
      checkCount('The number of deliveries in a batch', deliveries.length, limits.recordBatch)
      const verdicts = await health.watch(deliveries, () => record(deliveries))
      if (verdicts.some((delivery) => delivery.some(({ status }) => status === 'recorded')))
        notifications.notify()
      return verdicts
    },
    async claim(claimOptions) {
      checkClaim(claimOptions)
      return claim(claimOptions)
    },
    async extend(leases, leaseMs) {
      checkLeaseMs(leaseMs)
      return heartbeats.extend(leases, leaseMs)
    },
    async settle(settlements) {
      for (const settlement of settlements) checkSettlement(settlement)
      return settlements.length === 0 ? [] : settle(db, settlements)
    },
    async release(leases, delayMs = 0) {
      checkDelayMs('delayMs', delayMs)
      return leases.length === 0 ? [] : release(db, leases, delayMs)
    },
    transaction: (transactionOptions) => beginTransaction(db, heartbeats, transactionOptions),
    subscribe: (wake) => notifications.subscribe(wake),
    async operate(order) {
      checkOrder(order)
      return order.events.length === 0 ? [] : operate(db, unit, order)
    },
    async get(key) {
      checkKey(key)
      return getEvent(db, key)
    },
    async list(filter, { limit = DEFAULT_PAGE, cursor = null } = {}) {
      checkFilter(filter)
      checkCount('limit', limit, limits.listPage)
      return listEvents(db, filter, limit, cursor)
    },
    ping: health.ping,
    stats: () => statsOf(db),
    async tail(tailOptions) {
      checkTail(tailOptions)
      return tail(db, tailOptions)
    },
    close() {
      closing ??= (async () => {
        duplicates.stop()
        await notifications.close()
        try {
          await duplicates.flush()
        } catch (error) {
          // An unreachable database must not keep a process from ending. Only counts of duplicates are lost.
          if (!(error instanceof HookonceError)) throw error
        } finally {
          await db.close()
        }
      })()
      return closing
    },
    ...checkedCapabilities({
      keys: {
        effect: (step) => effect(db.query, step),
        key: (step) => keyStep(db, step),
        watermark: (source, key) => watermarkOf(db, source, key),
        place: () => placeOf(db),
      },
      retention: {
        prune: (pruneOptions) => prune(db, pruneOptions),
        maintain: (maintainOptions) => maintain(db, unit, maintainOptions),
      },
      archive: {
        export: (exportOptions) => exportDeliveries(db, exportOptions),
        archived: (receipts) => archived(db, receipts),
        receipts: (day) => receiptsOf(db, day),
        restore: (deliveries) => restore(db, unit, deliveries),
        erase: (eraseOptions) => erase(db, eraseOptions),
      },
      audit: {
        append: (entries) => writeAudits(db, entries),
        list: (filter, { limit = DEFAULT_PAGE, cursor = null } = {}) => listAudits(db, filter, limit, cursor),
      },
      inspect: {
        payload: (key) => payloadOf(db, key),
        attempts: (key) => attemptsOf(db, key),
        effects: (key) => effectsOf(db, key),
        conflict: (key) => conflictOf(db, key),
        deadLetters: (deadOptions) => deadLetters(db, deadOptions),
        leases: () => leasesOf(db),
        types: (limit) => typesOf(db, limit),
        idsFrom: (prefix, limit) => idsFrom(db, prefix, limit),
        report: () => inspect(db),
      },
      imports: {
        add: (events) => importEvents(db, unit, events),
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
    }),
  }
}

/**
 * The migrations as SQL, for users who apply migrations with another tool. Each one is a transaction, so its indexes block
 * writers while they are built: on a large log let hookonce migrate.
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
