/** The writer thread of the SQLite floor. */
import { parentPort, workerData } from 'node:worker_threads'

const builtin = /** @type {{ DatabaseSync: any } | undefined} */ (process.getBuiltinModule('node:sqlite'))
const { DatabaseSync } = builtin ?? (await import('@photostructure/sqlite'))
const db = new DatabaseSync(workerData)
db.exec(`
  pragma journal_mode = wal; pragma synchronous = full;
  create table ledger (seq integer primary key, event_id text not null unique, event_type text not null,
    content_hash blob not null, received_at integer not null) strict;
  create table bodies (seq integer primary key, body blob not null) strict;
  create table work (seq integer primary key, next_at integer not null) strict;
  create index work_due on work (next_at, seq)`)
const insertEvent = db.prepare(
  'insert into ledger (event_id, event_type, content_hash, received_at) values (?, ?, ?, ?) on conflict do nothing',
)
const insertBody = db.prepare('insert into bodies values (?, ?)')
const insertWork = db.prepare('insert into work values (?, ?)')

/**
 * @typedef {object} Batch
 * @property {[string, string][]} names
 * @property {number[]} lengths
 * @property {Uint8Array} bodies
 * @property {Uint8Array} hashes
 */
parentPort?.on('message', (/** @type {Batch} */ { names, lengths, bodies, hashes }) => {
  try {
    const now = Date.now()
    let at = 0
    db.exec('begin immediate')
    names.forEach(([id, type], i) => {
      const length = lengths[i] ?? 0
      const { changes, lastInsertRowid } = insertEvent.run(
        id,
        type,
        hashes.subarray(32 * i, 32 * i + 32),
        now,
      )
      if (Number(changes) > 0) {
        insertBody.run(lastInsertRowid, bodies.subarray(at, at + length))
        insertWork.run(lastInsertRowid, now)
      }
      at += length
    })
    db.exec('commit')
    parentPort?.postMessage(null)
  } catch (error) {
    parentPort?.postMessage(String(error))
  }
})
parentPort?.postMessage('ready')
