/** A log in a file of its own for each case, and the user's table beside it in the same file. */
import { copyFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { type SqliteTx, sqlite } from 'hookonce/sqlite'
import type { CompleteStore, StoreHarness } from 'hookonce/testing/contracts'
import { inject } from 'vitest'

export interface OwnHarness<Tx> extends StoreHarness<Tx> {
  open(options?: { readonly migrate?: boolean }): Promise<CompleteStore<Tx>>
  /** Closes every store it has opened and throws the log away. */
  end(): Promise<void>
}

export async function sqliteHarness(): Promise<OwnHarness<SqliteTx>> {
  const folder = await mkdtemp(join(tmpdir(), 'hookonce-sqlite-'))
  const path = join(folder, 'events.db')
  // The first call to `open` says whether the log is migrated: most cases get a copy of the migrated template.
  let opened: DatabaseSync | null = null
  const outside = (): DatabaseSync => {
    if (opened === null) throw new Error('No store was opened.')
    return opened
  }
  let offsetMs = 0
  const clock = { now: () => Date.now() + offsetMs }
  const stores: ReturnType<typeof sqlite>[] = []
  return {
    async open({ migrate = true } = {}) {
      opened ??= openFile(path, migrate)
      const store = sqlite(path, { clock })
      stores.push(store)
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
      const row = outside().prepare('select count(*) as n from user_effects where value = ?').get(value)
      return Number((row as { n: number }).n)
    },
    async end() {
      opened?.close()
      await Promise.allSettled(stores.map((store) => store.close()))
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function openFile(path: string, isMigrated: boolean): DatabaseSync {
  if (isMigrated) copyFileSync(inject('sqliteTemplate'), path)
  const file = new DatabaseSync(path)
  file.exec('pragma busy_timeout = 5000; create table if not exists user_effects (value text not null)')
  return file
}
