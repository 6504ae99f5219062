/**
 * The migrations of the PostgreSQL schema. The list is append-only; each store has the same numbers and names.
 * docs/decisions/0001-tables.md explains the tables.
 */
import type { Migration } from '../../store.js'
import { log, order, reading } from './migrations/0001-0003.js'
import { clock, flags, retention } from './migrations/0004-0006.js'
import { deploys, growth, lanes, tombstones } from './migrations/0007-0010.js'
import { history } from './migrations/0011.js'
import { audits, counting } from './migrations/0012-0013.js'
import { receipts } from './migrations/0014.js'

export const migrations: readonly Migration[] = [
  { number: 1, name: 'log', sql: log },
  { number: 2, name: 'order', sql: order },
  { number: 3, name: 'reading', sql: reading },
  { number: 4, name: 'keeping', sql: retention },
  { number: 5, name: 'clock', sql: clock },
  { number: 6, name: 'flags', sql: flags },
  { number: 7, name: 'growth', sql: growth },
  { number: 8, name: 'lanes', sql: lanes },
  { number: 9, name: 'tombstones', sql: tombstones },
  { number: 10, name: 'deploys', sql: deploys },
  { number: 11, name: 'history', sql: history },
  { number: 12, name: 'counting', sql: counting },
  { number: 13, name: 'audits', sql: audits },
  { number: 14, name: 'receipts', sql: receipts },
]
