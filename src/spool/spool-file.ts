/**
 * The spool file: deliveries in the order they came, the deliveries that the store has refused, and totals by source that
 * are updated in the same transaction, so that no query has to scan. Several processes can share the file.
 */
import { HookonceError } from '../errors.js'
import { type Connection, openConnection } from '../stores/sqlite/connection.js'
import { type Database, openDatabase, type Row } from '../stores/sqlite/driver.js'
import { isBusy } from '../stores/sqlite/failure.js'
import type { SpoolRow } from './row.js'

/** The size of an ordinary delivery: a smaller test row would fit on a disk that is too full for a delivery. */
const PROBE_BYTES = 64 * 1024

export interface SpoolFileOptions {
  readonly path: string
  readonly maxBytes: number
}

export interface StoredRow extends SpoolRow {
  readonly id: number
}

export interface RefusedRow {
  readonly id: number
  readonly code: string
  readonly detail: string
}

export interface Totals {
  readonly depth: number
  /** Of the waiting and the refused deliveries. */
  readonly bytes: number
  readonly refused: number
  readonly oldestAt: number | null
}

const SCHEMA = 1
const BUSY_MS = 5_000
/** An empty file of at least this size is shrunk. */
const SHRINK_PAGES = 1_000

export function openSpoolFile({ path, maxBytes }: SpoolFileOptions) {
  const connection = openConnection({ path, busyTimeoutMs: BUSY_MS, readOnly: false })
  prepareSchema(connection)
  const { prepare, write } = connection
  let lock: Database | null = null

  function add(source: string, depth: number, bytes: number, refused: number): void {
    prepare(`insert into totals (source, depth, bytes, refused) values (?, ?, ?, ?) on conflict (source) do update
      set depth = depth + excluded.depth, bytes = bytes + excluded.bytes, refused = refused + excluded.refused`).run(
      source,
      depth,
      bytes,
      refused,
    )
  }

  return {
    /**
     * Stores deliveries in order while they fit. False = no room; once one does not fit, the later ones are not stored.
     */
    put(rows: readonly SpoolRow[]): boolean[] {
      return write(() => {
        let used = Number(prepare('select coalesce(sum(bytes), 0) as bytes from totals').get()!.bytes)
        let full = false
        return rows.map(({ source, receivedAt, sealed, block }) => {
          full ||= used + block.byteLength > maxBytes
          if (full) return false
          used += block.byteLength
          prepare('insert into spooled (source, received_at, sealed, block) values (?, ?, ?, ?)').run(
            source,
            receivedAt,
            sealed ? 1 : 0,
            block,
          )
          add(source, 1, block.byteLength, 0)
          return true
        })
      })
    },

    /** The number of waiting deliveries, for each source that has any. */
    waiting(): { source: string; depth: number }[] {
      return prepare('select source, depth from totals where depth > 0')
        .all()
        .map(({ source, depth }) => ({ source: String(source), depth: Number(depth) }))
    },

    /** The oldest deliveries, up to `limit` and `maxBytes`, but at least one. */
    take({ limit, maxBytes: most }: { limit: number; maxBytes: number }): StoredRow[] {
      const taken: StoredRow[] = []
      let bytes = 0
      let after = 0
      while (taken.length < limit) {
        // Row by row: a row may have 64 MiB, and rows beyond the limit must not be read into memory.
        const row = prepare(
          'select id, source, received_at, sealed, block from spooled where id > ? order by id limit 1',
        ).get(after)
        if (!row) break
        const stored = asStored(row)
        bytes += stored.block.byteLength
        if (taken.length > 0 && bytes > most) break
        after = stored.id
        taken.push(stored)
      }
      return taken
    },

    /** In one transaction: removes recorded deliveries, and sets refused ones aside. */
    remove({ done, refused, now }: { done: number[]; refused: RefusedRow[]; now: number }): void {
      write(() => {
        for (const { id, code, detail } of refused) {
          const { changes } =
            prepare(`insert into refused (id, source, received_at, sealed, block, refused_at, code, detail)
            select id, source, received_at, sealed, block, ?, ?, ? from spooled where id = ?`).run(
              now,
              code,
              detail,
              id,
            )
          if (Number(changes) === 0) continue
          const row = prepare('delete from spooled where id = ? returning source').get(id)!
          add(String(row.source), -1, 0, 1)
        }
        for (const id of done) {
          const row = prepare(
            'delete from spooled where id = ? returning source, length(block) as bytes',
          ).get(id)
          if (row) add(String(row.source), -1, -Number(row.bytes), 0)
        }
      })
    },

    /** Puts refused deliveries back behind the waiting ones. */
    restore(): number {
      return write(() => {
        const rows = prepare('select source, count(*) as n from refused group by source').all()
        prepare(`insert into spooled (source, received_at, sealed, block)
          select source, received_at, sealed, block from refused order by id`).run()
        prepare('delete from refused').run()
        for (const { source, n } of rows) add(String(source), Number(n), 0, -Number(n))
        return rows.reduce((sum, { n }) => sum + Number(n), 0)
      })
    },

    totals(): Totals {
      const row = prepare(`select coalesce(sum(depth), 0) as depth, coalesce(sum(bytes), 0) as bytes,
        coalesce(sum(refused), 0) as refused, (select received_at from spooled order by id limit 1) as oldest
        from totals`).get()!
      return {
        depth: Number(row.depth),
        bytes: Number(row.bytes),
        refused: Number(row.refused),
        oldestAt: row.oldest === null ? null : Number(row.oldest),
      }
    },

    /**
     * True when this process may drain. A file lock of the operating system on a second file: it ends with its process,
     * and needs no clock.
     */
    lock(): boolean {
      if (lock) return true
      const lockFile = openDatabase(`${path}-drain`)
      try {
        lockFile.exec('pragma busy_timeout = 0; begin exclusive')
      } catch (error) {
        lockFile.close()
        if (isBusy(error)) return false
        throw error
      }
      lock = lockFile
      return true
    },

    unlock(): void {
      if (!lock) return
      lock.exec('rollback')
      lock.close()
      lock = null
    },

    /** Writes a test row of the size of a delivery and removes it. Throws when a delivery could not be stored. */
    probe(): void {
      write(() => {
        connection.db.exec('create table if not exists probe (filler blob)')
        connection.db.exec(`insert into probe (filler) values (zeroblob(${PROBE_BYTES}))`)
      })
      write(() => connection.db.exec('drop table probe'))
    },

    /** Frees disk space when the spool is empty. Gives way to another process that writes. */
    shrink(): void {
      const pages = Number(prepare('pragma page_count').get()!.page_count)
      if (pages < SHRINK_PAGES) return
      try {
        connection.db.exec('vacuum; pragma wal_checkpoint(truncate)')
      } catch (error) {
        if (!isBusy(error)) throw error
      }
    },

    close(): void {
      this.unlock()
      connection.close()
    },
  }
}

export type SpoolFile = ReturnType<typeof openSpoolFile>
export type SpoolVerb = keyof SpoolFile

export interface SpoolCall {
  readonly id: number
  readonly verb: SpoolVerb
  readonly args: unknown
}

/** Every method of the file as a promise, because the file is opened in a thread. */
export type SpoolThread = {
  readonly [V in SpoolVerb]: (...args: Parameters<SpoolFile[V]>) => Promise<ReturnType<SpoolFile[V]>>
}

function prepareSchema({ db, prepare, write }: Connection): void {
  write(() => {
    const found = Number(prepare('pragma user_version').get()!.user_version)
    if (found > SCHEMA) {
      const upgrade = 'a later hookonce'
      throw new HookonceError('SCHEMA_NEWER', { found, needed: found, known: SCHEMA, upgrade })
    }
    if (found === SCHEMA) return
    db.exec(`
      create table spooled (
        id integer primary key autoincrement,
        source text not null,
        received_at integer not null,
        sealed integer not null,
        block blob not null
      ) strict;
      create table refused (
        id integer primary key,
        source text not null,
        received_at integer not null,
        sealed integer not null,
        block blob not null,
        refused_at integer not null,
        code text not null,
        detail text not null
      ) strict;
      create table totals (
        source text primary key,
        depth integer not null,
        bytes integer not null,
        refused integer not null
      ) strict, without rowid;
      pragma user_version = ${SCHEMA};
    `)
  })
}

function asStored(row: Row): StoredRow {
  return {
    id: Number(row.id),
    source: String(row.source),
    receivedAt: Number(row.received_at),
    sealed: row.sealed === 1,
    block: row.block as Uint8Array,
  }
}
