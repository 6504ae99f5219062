/**
 * The floor on SQLite: the least work that records an event once and durably. A worker thread writes ledger, body and
 * work row with synchronous=FULL; the deliveries that arrived while it committed are its next transaction.
 *
 * Duties of hookonce that it omits: limits of body size, time and memory; every sender but one; conflicts and
 * replayed content; several events in a delivery; references and lanes; counters for statistics; the audit of
 * duplicates; a batch that fails because of one row; a full disk; other processes on the same file; the clock that never
 * goes back; the spool; encryption; metrics, traces and logs; a graceful end.
 */
import { once } from 'node:events'
import type { Server } from 'node:http'
import { Worker } from 'node:worker_threads'
import { type Checked, checkedServer } from '../sides/http.js'
import { gather } from './gather.js'

export async function sqliteFloor(): Promise<Server> {
  const thread = new Worker(new URL('../floors/sqlite-thread.mjs', import.meta.url), {
    workerData: `${process.env.BENCH_SQLITE}.floor`,
  })
  await once(thread, 'message')
  const record = gather((events: readonly Checked[]) => {
    const lengths = events.map(({ body }) => body.byteLength)
    // One block for all bodies: it is transferred and not copied.
    const bodies = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0))
    const hashes = new Uint8Array(32 * events.length)
    let at = 0
    events.forEach(({ body, contentHash }, i) => {
      bodies.set(body, at)
      at += lengths[i]!
      hashes.set(contentHash, 32 * i)
    })
    const names = events.map(({ id, type }) => [id, type])
    return new Promise<void>((resolve, reject) => {
      thread.once('message', (failure: string | null) =>
        failure === null ? resolve() : reject(new Error(failure)),
      )
      thread.postMessage({ names, lengths, bodies, hashes }, [bodies.buffer, hashes.buffer])
    })
  })
  return checkedServer(record)
}
