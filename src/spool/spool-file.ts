/**
 * The spool file: deliveries as they came, those set aside, and totals by source, which save scans: each transaction updates
 * them. Several processes can share the file.
 */
import { HookonceError } from '../errors.js'
import { type Connection, openConnection } from '../stores/sqlite/connection.js'
import { type Database, openDatabase, type Row } from '../stores/sqlite/driver.js'
import { isBusy } from '../stores/sqlite/failure.js'
import type { FailedRow } from './record-rows.js'
import type { SpoolRow } from './row.js'

/** A smaller test row would fit on a disk that is too full for an ordinary delivery. */
const PROBE_BYTES = 64 * 1024

export interface SpoolFileOptions {
  readonly path: string
  readonly maxBytes: number
}

export interface StoredRow extends SpoolRow {
  readonly id: number
}

export interface Totals {
  readonly depth: number
  readonly bytes: number
  readonly setAside: number
  readonly oldestAt: number | null
}

const SCHEMA = 1
const BUSY_MS = 5_000
const SHRINK_PAGES = 1_000
const FIRST_RETRY_MS = 1_000
const MAX_RETRY_MS = 60 * 60 * 1_000

const usedBytes = 'select coalesce(sum(bytes), 0) as bytes from totals'
const insertRow = 'insert into spooled (source, received_at, block) values (?, ?, ?)'
const addToTotals = `
  insert into totals (source, depth, bytes, set_aside) values (?, ?, ?, ?)
  on conflict (source) do update set depth = depth + excluded.depth, bytes = bytes + excluded.bytes,
    set_aside = set_aside + excluded.set_aside`
const totalsBySource = 'select source, depth, set_aside from totals where depth > 0 or set_aside > 0'
const nextRow = 'select id, source, received_at, block from spooled where id > ? order by id limit 1'
const copyAside = `
  insert into set_aside (id, source, received_at, block, tries, retry_at, code, detail)
  select id, source, received_at, block, 1, ?, ?, ? from spooled where id = ?`
const removeRow = 'delete from spooled where id = ? returning source, length(block) as bytes'
const removeAside = 'delete from set_aside where id = ? returning source, length(block) as bytes'
/** ?1 now, ?2 the latest possible retry. A later one was written before the clock was set back. */
const due = '(retry_at <= ?1 or retry_at > ?2)'
const anyDue = `select 1 from set_aside where ${due} limit 1`
const nextDue = `select id, source, received_at, block from set_aside where ${due} order by id limit 1`
const waitLonger = `
  update set_aside set retry_at = ? + min(?, ? * (1 << min(tries, 30))), tries = tries + 1, code = ?, detail = ?
  where id = ?`
const reasonsAside = 'select code, max(detail) as detail from set_aside group by code'
const sums = `
  select coalesce(sum(depth), 0) as depth, coalesce(sum(bytes), 0) as bytes, coalesce(sum(set_aside), 0) as set_aside,
    (select received_at from spooled order by id limit 1) as oldest
  from totals`

export class SpoolFile {
  readonly #path: string
  readonly #maxBytes: number
  readonly #file: Connection
  /** Held while this process drains. */
  #lock: Database | null = null

  constructor({ path, maxBytes }: SpoolFileOptions) {
    this.#path = path
    this.#maxBytes = maxBytes
    this.#file = openConnection({ path, busyTimeoutMs: BUSY_MS, readOnly: false })
    // A delivery that has left for the log leaves nothing behind that an erasure in the log would miss.
    this.#file.db.exec('pragma secure_delete = on')
    prepareSchema(this.#file)
    prepareLock(`${path}-drain`)
  }

  /** False = no room: once a delivery does not fit, the later ones are not stored. */
  put(rows: readonly SpoolRow[]): boolean[] {
    return this.#file.write(() => {
      let used = Number(this.#file.get(usedBytes)!.bytes)
      let full = false
      return rows.map(({ source, receivedAt, block }) => {
        full ||= used + block.byteLength > this.#maxBytes
        if (full) return false
        used += block.byteLength
        this.#file.run(insertRow, source, receivedAt, block)
        this.#file.run(addToTotals, source, 1, block.byteLength, 0)
        return true
      })
    })
  }

  waiting(): { source: string; depth: number; setAside: number }[] {
    return this.#file.all(totalsBySource).map((row) => ({
      source: String(row.source),
      depth: Number(row.depth),
      setAside: Number(row.set_aside),
    }))
  }

  /** The oldest behind the row `after`, up to `limit` and `maxBytes`, but at least one. */
  take({
    after: id,
    limit,
    maxBytes: most,
  }: {
    after: number
    limit: number
    maxBytes: number
  }): StoredRow[] {
    const taken: StoredRow[] = []
    let bytes = 0
    let after = id
    while (taken.length < limit) {
      // Row by row: a row may have 64 MiB, and rows beyond the limit must not be read into memory.
      const row = this.#file.get(nextRow, after)
      if (!row) break
      const stored = asStored(row)
      bytes += stored.block.byteLength
      if (taken.length > 0 && bytes > most) break
      after = stored.id
      taken.push(stored)
    }
    return taken
  }

  remove({ done, setAside, now }: { done: number[]; setAside: FailedRow[]; now: number }): void {
    this.#file.write(() => {
      for (const { id, code, detail } of setAside) {
        const { changes } = this.#file.run(copyAside, now + FIRST_RETRY_MS, code, detail, id)
        if (Number(changes) === 0) continue
        const row = this.#file.get(removeRow, id)!
        this.#file.run(addToTotals, row.source!, -1, 0, 1)
      }
      for (const id of done) {
        const row = this.#file.get(removeRow, id)
        if (row) this.#file.run(addToTotals, row.source!, -1, -Number(row.bytes), 0)
      }
    })
  }

  isDue({ now }: { now: number }): boolean {
    return this.#file.get(anyDue, now, now + MAX_RETRY_MS) !== undefined
  }

  takeDue({ now }: { now: number }): StoredRow | null {
    const row = this.#file.get(nextDue, now, now + MAX_RETRY_MS)
    return row ? asStored(row) : null
  }

  postpone({ id, code, detail, now }: Omit<FailedRow, 'source'> & { now: number }): void {
    this.#file.write(() => this.#file.run(waitLonger, now, MAX_RETRY_MS, FIRST_RETRY_MS, code, detail, id))
  }

  removeSetAside({ id }: { id: number }): void {
    this.#file.write(() => {
      const row = this.#file.get(removeAside, id)
      if (row) this.#file.run(addToTotals, row.source!, 0, -Number(row.bytes), -1)
    })
  }

  retryNow(): number {
    return this.#file.write(() => Number(this.#file.run('update set_aside set retry_at = 0').changes))
  }

  reasons(): { code: string; detail: string }[] {
    const rows = this.#file.all(reasonsAside)
    return rows.map(({ code, detail }) => ({ code: String(code), detail: String(detail) }))
  }

  totals(): Totals {
    const { depth, bytes, set_aside: setAside, oldest } = this.#file.get(sums)!
    return {
      depth: Number(depth),
      bytes: Number(bytes),
      setAside: Number(setAside),
      oldestAt: oldest === null ? null : Number(oldest),
    }
  }

  /**
   * True when this process may drain. The lock of the operating system on a second file ends with the process and needs no
   * clock.
   */
  lock(): boolean {
    if (this.#lock) return true
    const lockFile = openDatabase(`${this.#path}-drain`)
    try {
      lockFile.exec('pragma busy_timeout = 0; begin exclusive')
    } catch (error) {
      lockFile.close()
      if (isBusy(error)) return false
      throw error
    }
    this.#lock = lockFile
    return true
  }

  unlock(): void {
    this.#lock?.exec('rollback')
    this.#lock?.close()
    this.#lock = null
  }

  probe(): void {
    this.#file.write(() => {
      this.#file.db.exec('create table if not exists probe (filler blob)')
      this.#file.db.exec(`insert into probe (filler) values (zeroblob(${PROBE_BYTES}))`)
    })
    this.#file.write(() => this.#file.db.exec('drop table probe'))
  }

  /** Frees disk space when the spool is empty. Gives way to another process that writes. */
  shrink(): void {
    const pages = Number(this.#file.get('pragma page_count')!.page_count)
    const vacuum = pages < SHRINK_PAGES ? '' : 'vacuum;'
    try {
      this.#file.db.exec(`${vacuum} pragma wal_checkpoint(truncate)`)
    } catch (error) {
      if (!isBusy(error)) throw error
    }
  }

  close(): void {
    this.unlock()
    this.#file.close()
  }
}

/** `reasons` is for `hookonce doctor`, which opens the file itself. */
export type SpoolVerb = Exclude<keyof SpoolFile, 'reasons'>

export interface SpoolCall {
  readonly id: number
  readonly verb: SpoolVerb
  readonly args: unknown
}

/** The file is opened in a thread, so each method is a promise. */
export type SpoolThread = {
  readonly [V in SpoolVerb]: (...args: Parameters<SpoolFile[V]>) => Promise<ReturnType<SpoolFile[V]>>
}

/** An exclusive lock on an empty file would write to it, which fails on a full disk. */
function prepareLock(path: string): void {
  const file = openDatabase(path)
  try {
    if (Number(file.prepare('pragma page_count').get()!.page_count) === 0)
      file.exec(`pragma busy_timeout = ${BUSY_MS}; pragma user_version = ${SCHEMA}`)
  } catch (error) {
    if (!isBusy(error)) throw error
  } finally {
    file.close()
  }
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
        block blob not null
      ) strict;
      create table set_aside (
        id integer primary key,
        source text not null,
        received_at integer not null,
        block blob not null,
        tries integer not null,
        retry_at integer not null,
        code text not null,
        detail text not null
      ) strict;
      create index set_aside_retry on set_aside (retry_at);
      create table totals (
        source text primary key,
        depth integer not null,
        bytes integer not null,
        set_aside integer not null
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
    block: row.block as Uint8Array,
  }
}
