/**
 * The order of the system calls: the flush of the log lies between reading a delivery and writing its answer. And a
 * power cut at each answer: the files as of their last flush, with all later writes dropped, have every event that was
 * acknowledged.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DatabaseSync } from '@photostructure/sqlite'
import { postgres } from 'hookonce/postgres'
import { expect, test } from 'vitest'
import { startPostgres } from '../support/postgres.js'
import { lineOf, type SystemCall, type Trace, traced } from '../support/strace.js'

const EVENTS = 10
const flushes = ['fsync', 'fdatasync']
const socketCalls = 'read,readv,recvfrom,write,writev,sendto,sendmsg'

test('on SQLite the write-ahead log is flushed before each answer, and a power cut at any answer loses no event', async () => {
  await inFolder(async (folder) => {
    const path = join(folder, 'events.db')
    const names = `${socketCalls},pwrite64,ftruncate,fsync,fdatasync`
    const calls = await deliver(['sqlite', path], names, join(folder, 'calls'), 8_192)
    const files = new DurableFiles([path, `${path}-wal`])
    const answered: string[] = []
    for (const delivery of deliveriesIn(calls)) {
      const flushed = calls.filter(
        ({ name, path: flushedPath, ended }) =>
          flushes.includes(name) &&
          flushedPath === `${path}-wal` &&
          ended > delivery.read.ended &&
          ended <= delivery.answer.started,
      )
      expect([delivery.id, flushed.length > 0]).toEqual([delivery.id, true])
      answered.push(delivery.id)
      files.apply(calls.filter(({ ended }) => ended <= delivery.answer.started))
      expect(await eventsIn(files, path, folder)).toEqual(expect.arrayContaining(answered))
    }
    expect(answered).toHaveLength(EVENTS)
  })
})

test('on PostgreSQL the server has flushed its write-ahead log before each answer', async () => {
  await inFolder(async (folder) => {
    const server = await startPostgres()
    try {
      const store = postgres({ url: server.url, schema: 'log' })
      await store.migrate()
      await store.close()
      const pid = (await readFile(join(server.dataDir, 'postmaster.pid'), 'utf8')).split('\n')[0]!
      const names = 'fsync,fdatasync'
      const onServer = traced(['-p', pid], names, join(folder, 'server-calls'), 64)
      await lineOf(onServer.process.stderr!, /attached/)
      const where = ['postgres', server.url, 'log']
      const calls = await deliver(where, socketCalls, join(folder, 'calls'), 512)
      onServer.process.kill('SIGINT')
      const walFlushes = (await onServer.calls()).filter(({ path }) => path.includes('/pg_wal/'))
      const deliveries = deliveriesIn(calls)
      expect(deliveries).toHaveLength(EVENTS)
      for (const { id, read, answer } of deliveries) {
        const between = walFlushes.filter(
          ({ endedAt }) => endedAt > read.endedAt && endedAt <= answer.startedAt,
        )
        expect([id, between.length > 0]).toEqual([id, true])
      }
    } finally {
      await server.remove()
    }
  })
})

/** Starts a server under strace and sends it deliveries, one after the other. */
async function deliver(
  where: readonly string[],
  names: string,
  file: string,
  bytes: number,
): Promise<SystemCall[]> {
  const script = fileURLToPath(new URL('../support/server-child.mjs', import.meta.url))
  const told = JSON.stringify({ processing: false })
  const trace: Trace = traced([process.execPath, script, told, '', ...where], names, file, bytes)
  const [url = '', pid = ''] = (await lineOf(trace.process.stdout!, /^http/)).split(' ')
  for (let i = 0; i < EVENTS; i++) expect(await post(url, idOf(i))).toBe(200)
  process.kill(Number(pid), 'SIGTERM')
  return trace.calls()
}

function idOf(i: number): string {
  return `delivery-${String(i).padStart(3, '0')}`
}

function post(url: string, id: string): Promise<number | undefined> {
  const body = JSON.stringify({ id, type: 'order.paid', note: 'x'.repeat(100) })
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/webhooks/shop`, { method: 'POST', agent: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

interface Traced {
  readonly id: string
  /** Read the last byte of the request. */
  readonly read: SystemCall
  /** Wrote the answer. */
  readonly answer: SystemCall
}

function deliveriesIn(calls: readonly SystemCall[]): Traced[] {
  const answers = calls.filter(({ bytes }) => bytes.subarray(0, 10).toString('latin1') === 'HTTP/1.1 2')
  return answers.map((answer, i) => {
    const id = idOf(i)
    const read = calls.find(({ name, bytes }) => /^re/.test(name) && bytes.includes(`"${id}"`))
    expect([id, read !== undefined]).toEqual([id, true])
    return { id, read: read!, answer }
  })
}

/** Files of which only flushed writes are kept. */
class DurableFiles {
  readonly contents: Map<string, Buffer>
  #applied = 0
  readonly #pending = new Map<string, SystemCall[]>()

  constructor(paths: readonly string[]) {
    this.contents = new Map(paths.map((path) => [path, Buffer.alloc(0)]))
  }

  /** `calls`: all calls so far, in order. */
  apply(calls: readonly SystemCall[]): void {
    for (const call of calls.slice(this.#applied)) {
      if (!this.contents.has(call.path) || call.result < 0) continue
      const pending = this.#pending.get(call.path) ?? []
      this.#pending.set(call.path, pending)
      if (call.name === 'pwrite64' || call.name === 'ftruncate') pending.push(call)
      else if (flushes.includes(call.name)) for (const one of pending.splice(0)) this.#write(one)
    }
    this.#applied = calls.length
  }

  #write({ name, path, bytes, numbers }: SystemCall): void {
    const before = this.contents.get(path)!
    if (name === 'ftruncate') {
      const after = Buffer.alloc(numbers[0]!)
      before.copy(after)
      this.contents.set(path, after)
      return
    }
    const [length = 0, offset = 0] = numbers
    expect(bytes.length).toBe(length)
    const after = Buffer.alloc(Math.max(before.length, offset + length))
    before.copy(after)
    bytes.copy(after, offset)
    this.contents.set(path, after)
  }
}

/** The ids in a log that is opened from these files, as after a power cut. */
async function eventsIn(files: DurableFiles, path: string, folder: string): Promise<string[]> {
  const copy = join(folder, 'after-power-cut.db')
  await Promise.all(['', '-wal', '-shm'].map((end) => rm(copy + end, { force: true })))
  await writeFile(copy, files.contents.get(path)!)
  await writeFile(`${copy}-wal`, files.contents.get(`${path}-wal`)!)
  const database = new DatabaseSync(copy)
  try {
    const rows = database.prepare(
      'select e.event_id from hookonce_events e join hookonce_payloads p on p.seq = e.seq',
    )
    return rows.all().map((row) => String((row as { event_id: string }).event_id))
  } finally {
    database.close()
  }
}

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'hookonce-durability-'))
  try {
    await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
