/**
 * The PostgreSQL store. One file per verb in this folder, its SQL written out; this file only puts them
 * behind the contract: check the input, then do it.
 */
import { HookonceError } from '../../errors.js'
import { limits } from '../../model.js'
import type { Store } from '../../store.js'
import {
  checkAuditFilter,
  checkAudits,
  checkClaim,
  checkCount,
  checkDelayMs,
  checkEffect,
  checkFilter,
  checkKey,
  checkKeyStep,
  checkLeaseMs,
  checkOrder,
  checkRepeats,
  checkSettlement,
  checkTail,
  checkWatermark,
} from '../../store-input.js'
import { duplicateAudit } from '../shared/duplicate-audit.js'
import { checkedKeeping } from '../shared/keeping.js'
import { archived } from './archived.js'
import { listAudits, writeAudits } from './audit.js'
import { createBell } from './bell.js'
import { claimer } from './claim.js'
import { openDatabase, type PostgresOptions } from './database.js'
import { writeDuplicates } from './duplicates.js'
import { effect } from './effect.js'
import { erase } from './erase.js'
import { exportDeliveries } from './export.js'
import { inspect } from './inspect.js'
import { keyStep } from './key.js'
import { listEvents } from './list.js'
import { maintain } from './maintain.js'
import { migrate, noteAsSql } from './migrate.js'
import { migrations } from './migrations.js'
import { operate } from './operate.js'
import { checkUnit } from './partitions.js'
import { pinger } from './ping.js'
import { prune } from './prune.js'
import { attemptsOf, getEvent, payloadOf } from './read.js'
import { recorder } from './record.js'
import { restore } from './restore.js'
import { inSchema } from './schema.js'
import { extend, release, settle } from './settle.js'
import { statsOf } from './stats.js'
import { tail } from './tail.js'
import { beginTransaction, type PostgresTx } from './transaction.js'
import { watermarkOf } from './watermark.js'

export { asClient, type TransactionClient } from './as-client.js'
export type { PostgresOptions } from './database.js'
export type { PostgresTx } from './transaction.js'

export function postgres(options: PostgresOptions | string): Store<PostgresTx> {
  const settings = typeof options === 'string' ? { url: options } : options
  const db = openDatabase(settings)
  const audit = duplicateAudit({
    write: (notes) => writeDuplicates(db, notes),
    delayMs: settings.duplicateFlushMs ?? 1_000,
  })
  const unit = checkUnit(settings.partitions ?? 'month')
  const record = recorder(db, audit, unit)
  const health = pinger(db)
  const claim = claimer(db)
  const bell = createBell(db)
  let closing: Promise<void> | undefined

  return {
    name: `postgres:${db.schema}`,
    singleWriter: false,
    migrate: () => migrate(db),
    async record(deliveries) {
      if (deliveries.length === 0) return []
      checkCount('The number of deliveries in a batch', deliveries.length, limits.recordBatch)
      const verdicts = await health.watch(deliveries, () => record(deliveries))
      if (verdicts.some((one) => one.some((verdict) => verdict.status === 'recorded'))) bell.ring()
      return verdicts
    },
    flush: () => audit.flush(),
    async claim(claimOptions) {
      checkClaim(claimOptions)
      return claim(claimOptions)
    },
    async extend(held, leaseMs) {
      checkLeaseMs(leaseMs)
      return held.length === 0 ? [] : extend(db, held, leaseMs)
    },
    async settle(settlements) {
      for (const settlement of settlements) checkSettlement(settlement)
      return settlements.length === 0 ? [] : settle(db, settlements)
    },
    async release(held, delayMs = 0) {
      checkDelayMs('delayMs', delayMs)
      return held.length === 0 ? [] : release(db, held, delayMs)
    },
    transaction: (how) => beginTransaction(db, how),
    async effect(step) {
      checkEffect(step)
      return effect(db.query, step)
    },
    async key(step) {
      checkKeyStep(step)
      return keyStep(db, step)
    },
    async watermark(source, key) {
      checkWatermark({ source, key, value: 0 })
      return watermarkOf(db, source, key)
    },
    subscribe: (wake) => bell.subscribe(wake),
    async operate(order) {
      checkOrder(order)
      return order.events.length === 0 ? [] : operate(db, order)
    },
    async get(key) {
      checkKey(key)
      return getEvent(db, key)
    },
    async list(filter, { limit = 50, cursor = null } = {}) {
      checkFilter(filter)
      checkCount('limit', limit, limits.listPage)
      return listEvents(db, filter, limit, cursor)
    },
    async payload(key) {
      checkKey(key)
      return payloadOf(db, key)
    },
    async attempts(key) {
      checkKey(key)
      return attemptsOf(db, key)
    },
    ping: health.ping,
    stats: () => statsOf(db),
    async tail(tailOptions) {
      checkTail(tailOptions)
      return tail(db, tailOptions)
    },
    repeated(repeats) {
      if (closing) throw new HookonceError('STORE_CLOSED')
      checkRepeats(repeats)
      for (const { seq, at } of repeats) audit.note(seq, at, null)
    },
    async audit(entries) {
      checkAudits(entries)
      if (entries.length > 0) await writeAudits(db, entries)
    },
    async audits(filter, { limit = 50, cursor = null } = {}) {
      checkAuditFilter(filter)
      checkCount('limit', limit, limits.listPage)
      return listAudits(db, filter, limit, cursor)
    },
    ...checkedKeeping({
      prune: (pruneOptions) => prune(db, pruneOptions),
      maintain: (maintainOptions) => maintain(db, unit, maintainOptions),
      export: (exportOptions) => exportDeliveries(db, exportOptions),
      archived: (marks) => archived(db, marks),
      restore: (deliveries) => restore(db, unit, deliveries),
      erase: (eraseOptions) => erase(db, eraseOptions),
    }),
    inspect: () => inspect(db),
    close() {
      closing ??= (async () => {
        audit.stop()
        await bell.close()
        try {
          await audit.flush()
        } catch (error) {
          // An unreachable database must not keep a process from ending; counts of duplicates are all that is lost.
          if (!(error instanceof HookonceError)) throw error
        } finally {
          await db.close()
        }
      })()
      return closing
    },
  }
}

/** The migrations as SQL, for people who run their own. */
export function postgresMigrationsSql(schema = 'hookonce'): string {
  const place = inSchema(schema)
  return migrations
    .map((migration) => {
      const { number, name, sql } = migration
      return place(`-- ${number}: ${name}\nbegin;\n${sql.trim()}\n${noteAsSql(migration)}\ncommit;\n`)
    })
    .join('\n')
}
