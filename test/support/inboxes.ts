/** The same cases on both stores: `onBothStores((store) => { it(...) })`. */
import { createInbox, type Inbox, type InboxOptions, type LogFields, type Logger } from 'hookonce'
import type { CompleteStore } from 'hookonce/testing/contracts'
import { afterAll, afterEach, beforeAll, describe } from 'vitest'
import { postgresLog, type SharedLog, sqliteLog, storeKinds } from './logs.js'

export interface StoreOfCase {
  /** A store on a log that belongs to this file; closed by itself. */
  open(): CompleteStore
}

export function onBothStores(cases: (store: StoreOfCase) => void): void {
  for (const name of storeKinds) {
    const make = name === 'SQLite' ? () => sqliteLog() : postgresLog
    describe(`on ${name}`, () => {
      let log: SharedLog
      const opened: CompleteStore[] = []
      beforeAll(async () => {
        log = await make()
      })
      afterEach(async () => {
        for (const store of opened.splice(0)) await store.close()
      })
      afterAll(() => log.remove())
      cases({
        open() {
          const store = log.open()
          opened.push(store)
          return store
        },
      })
    })
  }
}

export interface LogLine extends LogFields {
  readonly level: string
  readonly msg: string
}

/** An inbox whose log lines can be read. */
export function loggedInbox(options: InboxOptions): { inbox: Inbox; lines: LogLine[] } {
  const lines: LogLine[] = []
  const at = (level: string) => (fields: LogFields, msg: string) => void lines.push({ ...fields, level, msg })
  const log: Logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
  return { inbox: createInbox({ ...options, log }), lines }
}

export const secretOf = (name: string): string => `${name}-secret-${'0123456789abcdef'.repeat(2)}`
