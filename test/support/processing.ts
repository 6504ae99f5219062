/** What the tests of processing share: a fresh log for each case on each store, inboxes on it, events put into it. */
import { DatabaseSync } from '@photostructure/sqlite'
import type { Inbox, InboxOptions, Receipt, Source, State } from 'hookonce'
import type { PostgresTx } from 'hookonce/postgres'
import { unverified } from 'hookonce/providers'
import type { SqliteTx } from 'hookonce/sqlite'
import type { CompleteStore } from 'hookonce/testing/contracts'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect } from 'vitest'
import { type LogLine, loggedInbox } from './inboxes.js'
import { postgresLog, type SharedLog, type StoreKind, sqliteLog, storeKinds } from './logs.js'

/** One case's log. Everything opened through it is closed after the case. */
export interface Bench {
  readonly kind: StoreKind
  readonly log: SharedLog
  store(): CompleteStore
  /** An inbox on a store of its own, with the source `shop` unless told otherwise. */
  inbox(options?: Partial<InboxOptions>): { inbox: Inbox; lines: LogLine[] }
  /** Writes a row into the user's table through `ctx.tx`. */
  write(tx: unknown, value: string): Promise<void>
  /** Runs SQL that reads the log's tables; `log.` stands for where they are. */
  rows(text: string): Promise<Record<string, unknown>[]>
}

export function onBothLogs(cases: (bench: Bench) => void): void {
  for (const kind of storeKinds) onLog(kind, cases)
}

export function onLog(kind: StoreKind, cases: (bench: Bench) => void): void {
  describe(`on ${kind}`, () => {
    let log: SharedLog
    const inboxes: Inbox[] = []
    const stores: CompleteStore[] = []
    beforeEach(async () => {
      log = kind === 'SQLite' ? await sqliteLog() : await postgresLog()
    })
    afterEach(async () => {
      await Promise.all(inboxes.splice(0).map((inbox) => inbox.stop({ deadline: 100 })))
      await Promise.all(stores.splice(0).map((store) => store.close()))
      await log.remove()
    })
    const bench: Bench = {
      kind,
      get log() {
        return log
      },
      store() {
        const store = log.open()
        stores.push(store)
        return store
      },
      inbox(options = {}) {
        const made = loggedInbox({
          ...options,
          store: options.store ?? bench.store(),
          sources: options.sources ?? { shop: shop() },
          processing: options.processing ?? { lease: 30_000, poll: 50, retry: quickRetry },
        })
        inboxes.push(made.inbox)
        return made
      },
      write: (tx, value) => write(log, tx, value),
      rows: (text) => rows(log, text),
    }
    cases(bench)
  })
}

/** Retries that are due at once. */
export const quickRetry = { firstDelay: 1, maxDelay: 5 }

/** A source whose deliveries are `{ id, type, ref, ... }`. */
export function shop(options: Partial<Pick<Source, 'mode' | 'rearm' | 'order'>> = {}): Source {
  return { ...unverified({ id: 'json:id', type: 'json:type', reference: 'json:ref' }), ...options }
}

export interface ShopEvent {
  readonly id: string
  readonly type?: string
  readonly ref?: string
  readonly [more: string]: unknown
}

export function post(inbox: Inbox, event: ShopEvent, source = 'shop'): Promise<Receipt> {
  const body = Buffer.from(JSON.stringify({ type: 'order.paid', ...event }))
  return inbox.receive(source, {
    method: 'POST',
    url: `http://localhost/webhooks/${source}`,
    headers: {},
    body,
  })
}

export async function postAll(inbox: Inbox, events: readonly ShopEvent[], source = 'shop'): Promise<void> {
  const receipts = await Promise.all(events.map((event) => post(inbox, event, source)))
  expect(receipts.filter((receipt) => receipt.status !== 'accepted')).toEqual([])
}

/** `e0`, `e1`, ... */
export function ids(count: number, prefix = 'e'): string[] {
  return Array.from({ length: count }, (_, i) => `${prefix}${i}`)
}

export async function write(log: SharedLog, tx: unknown, value: string): Promise<void> {
  if (log.args[0] === 'sqlite') await (tx as SqliteTx).run(log.insertEffect, [value])
  else await (tx as PostgresTx).query(log.insertEffect, [value])
}

export async function rows(log: SharedLog, text: string): Promise<Record<string, unknown>[]> {
  const [kind, where = '', schema = ''] = log.args
  if (kind === 'sqlite') {
    const database = new DatabaseSync(where, { timeout: 60_000 })
    try {
      database.exec('pragma busy_timeout = 60000')
      return database.prepare(text.replaceAll('log.', 'hookonce_')).all() as Record<string, unknown>[]
    } finally {
      database.close()
    }
  }
  const client = new pg.Client({ connectionString: where })
  await client.connect()
  try {
    return (await client.query(text.replaceAll('log.', `${schema}.`))).rows
  } finally {
    await client.end()
  }
}

export async function stateOf(inbox: Inbox, eventId: string, source = 'shop'): Promise<State | undefined> {
  return (await inbox.events.get({ source, id: eventId }))?.state
}

/** Waits until the condition holds. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
  timeoutMs = 60_000,
): Promise<void> {
  await expect.poll(condition, { timeout: timeoutMs, interval: 30, message: what }).toBe(true)
}

/** Lets the time of every lease pass: who waits for the end of a lease that is never too short for a busy machine. */
export function expireLeases({ kind, log }: Bench): Promise<void> {
  const past = kind === 'SQLite' ? '1' : `now() - interval '1 second'`
  return log.sql(`update log.work set next_at = ${past} where token is not null`)
}

/** Resolves when it is aborted, also when it was before: on a busy machine the time of a handler may be over early. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve())
  })
}

/** A promise and what settles it. */
export function signal(): { readonly wait: Promise<void>; give(): void } {
  let give = (): void => {}
  const wait = new Promise<void>((resolve) => {
    give = resolve
  })
  return { wait, give: () => give() }
}
