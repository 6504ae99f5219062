/**
 * The points at which a fault is injected: every method of the store contract and of an archive target, which are the
 * step boundaries of intake, attempts, retention, archive, spool and migration. The types below make a new method of the
 * contract an error until it has an entry here.
 */

import type { ArchiveTarget } from 'hookonce/archive'
import type {
  Archive,
  AuditTrail,
  Capability,
  Consumers,
  Duplicates,
  Grants,
  Inspect,
  Keys,
  Log,
  Pauses,
  Replies,
  Retention,
  StoreTransaction,
  TransactionKeys,
  TransactionReplies,
} from 'hookonce/testing/contracts'
import type { History } from '#dist/store/history.js'
import type { Imports } from '#dist/store/imports.js'
import type { Reconciles } from '#dist/store/reconciles.js'

/** The operation that calls the method. */
export type Operation =
  | 'migrate'
  | 'intake'
  | 'drain'
  | 'attempt'
  | 'order'
  | 'once'
  | 'read'
  | 'prune'
  | 'archive'
  | 'stop'

type Methods<T> = Record<
  { [K in keyof T]-?: T[K] extends (...args: never[]) => unknown ? K : never }[keyof T],
  Operation
>

const log = {
  migrate: 'migrate',
  record: 'intake',
  claim: 'attempt',
  extend: 'attempt',
  settle: 'attempt',
  release: 'attempt',
  transaction: 'attempt',
  operate: 'order',
  get: 'read',
  list: 'read',
  tail: 'read',
  stats: 'read',
  subscribe: 'attempt',
  ping: 'drain',
  close: 'stop',
} satisfies Methods<Log>

const transaction = {
  settle: 'attempt',
  finish: 'attempt',
  commit: 'attempt',
  rollback: 'attempt',
} satisfies Methods<StoreTransaction>

const transactionKeys = { effect: 'attempt', advance: 'attempt' } satisfies Methods<TransactionKeys>

const transactionReplies = { put: 'attempt' } satisfies Methods<TransactionReplies>

const ofCapability = {
  keys: { effect: 'attempt', key: 'once', watermark: 'attempt' } satisfies Methods<Keys>,
  retention: { prune: 'prune', maintain: 'prune' } satisfies Methods<Retention>,
  archive: {
    export: 'archive',
    archived: 'archive',
    receipts: 'archive',
    restore: 'archive',
    erase: 'archive',
  } satisfies Methods<Archive>,
  audit: { append: 'order', list: 'read' } satisfies Methods<AuditTrail>,
  inspect: {
    payload: 'read',
    attempts: 'read',
    report: 'read',
    effects: 'read',
    conflict: 'read',
    openConflicts: 'read',
    deadLetters: 'read',
    leases: 'read',
    standings: 'read',
    oldest: 'read',
    types: 'read',
    idsFrom: 'read',
  } satisfies Methods<Inspect>,
  history: { add: 'read', read: 'read', processes: 'read', handled: 'read' } satisfies Methods<History>,
  imports: { add: 'read', known: 'read' } satisfies Methods<Imports>,
  duplicates: { count: 'intake', flush: 'stop' } satisfies Methods<Duplicates>,
  replies: { get: 'read' } satisfies Methods<Replies>,
  consumers: { open: 'attempt', list: 'attempt', copy: 'attempt' } satisfies Methods<Consumers>,
  reconciles: { note: 'read', runs: 'read' } satisfies Methods<Reconciles>,
  grants: { take: 'attempt', list: 'read' } satisfies Methods<Grants>,
  pauses: { pause: 'order', resume: 'order', list: 'attempt' } satisfies Methods<Pauses>,
} satisfies Record<Capability, Record<string, Operation>>

const target = {
  create: 'archive',
  replace: 'archive',
  read: 'archive',
  list: 'archive',
} satisfies Methods<ArchiveTarget>

/**
 * Methods that processing does not call: `finish` is settle and commit in one step, and handlers that run in the
 * workload below reach all others.
 */
export const notCalled: ReadonlySet<string> = new Set(['transaction.settle', 'transaction.commit'])

/** The object and the method, for example `transaction.finish`, and the operation. */
export const points: Readonly<Record<string, Operation>> = {
  ...named('log', log),
  ...named('transaction', transaction),
  ...named('transaction.keys', transactionKeys),
  ...named('transaction.replies', transactionReplies),
  ...Object.assign({}, ...Object.entries(ofCapability).map(([name, methods]) => named(name, methods))),
  ...named('target', target),
}

function named(object: string, methods: Record<string, Operation>): Record<string, Operation> {
  return Object.fromEntries(
    Object.entries(methods).map(([name, operation]) => [`${object}.${name}`, operation]),
  )
}
