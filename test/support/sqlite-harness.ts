/** A log in a file of its own for each case, and the user's table beside it in the same file. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { type SqliteTx, sqlite } from 'hookonce/sqlite'
import type { CompleteStore, StoreHarness } from 'hookonce/testing/contracts'

export interface OwnHarness<Tx> extends StoreHarness<Tx> {
  open(options?: { readonly migrate?: boolean }): Promise<CompleteStore<Tx>>
  /** Closes every store it has opened and throws the log away. */
  end(): Promise<void>
}

export async function sqliteHarness(): Promise<OwnHarness<SqliteTx>> {
  const folder = await mkdtemp(join(tmpdir(), 'hookonce-sqlite-'))
  const path = join(folder, 'events.db')
  const outside = new DatabaseSync(path)
  outside.exec('pragma busy_timeout = 60000; create table user_effects (value text not null)')
  let offsetMs = 0
  const clock = { now: () => Date.now() + offsetMs }
  const opened: ReturnType<typeof sqlite>[] = []
  return {
    async open({ migrate = true } = {}) {
      const store = sqlite(path, { clock })
      opened.push(store)
      if (migrate) await store.migrate()
      return store
    },
    async advance(ms) {
      offsetMs += ms
    },
    async insertEffect(tx, value) {
      await tx.run('insert into user_effects (value) values (?)', [value])
    },
    async countEffects(value) {
      const row = outside.prepare('select count(*) as n from user_effects where value = ?').get(value)
      return Number((row as { n: number }).n)
    },
    async end() {
      outside.close()
      await Promise.allSettled(opened.map((store) => store.close()))
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}
