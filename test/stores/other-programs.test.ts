/**
 * The log's file is opened by other programs while a server writes to it: administrators look, table browsers and
 * backups come by, a second server runs. None of that may cost an acknowledged event.
 */
import { execFile } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { DatabaseSync } from '@photostructure/sqlite'
import type { Delivery, EventPage } from 'hookonce'
import { stripe } from 'hookonce/providers'
import { sqlite } from 'hookonce/sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { writeAheadLog } from '#dist/stores/sqlite/write-ahead-log.js'
import { type Child, startChild } from '../support/child.js'
import { type Folder, freshFolder, type Running } from '../support/cli.js'
import { delivery } from '../support/delivery.js'
import { deletedFilesOf, otherPrograms } from '../support/other-program.js'
import { send } from '../support/serving.js'

const run = promisify(execFile)

let folder: Folder
const children: Child[] = []
beforeEach(() => {
  folder = freshFolder()
})
afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.kill()))
  await folder.remove()
})

interface Dev {
  readonly server: Running
  readonly pid: number
  deliver(ids: readonly string[], status?: number): Promise<void>
}

async function startDev(): Promise<Dev> {
  const server = folder.start(['dev', '--port', '0'])
  const [, port] = await server.says(/intake +http:\/\/127\.0\.0\.1:(\d+)\//)
  const source = stripe({ secret: readFileSync(join(folder.path, '.hookonce/secret'), 'utf8').trim() })
  async function deliver(ids: readonly string[], status = 200): Promise<void> {
    for (const id of ids) {
      const sample = source.sample({ now: Date.now(), id })
      const delivery: Delivery = await source.sign({ ...sample, now: Date.now() })
      const answer = await send(`http://127.0.0.1:${port}`, 'stripe', delivery)
      expect([id, answer.status]).toEqual([id, status])
    }
  }
  return { server, pid: server.child.pid!, deliver }
}

const named = (prefix: string, count = 10) => Array.from({ length: count }, (_, i) => `evt_${prefix}_${i}`)

/** As the server would find them after a restart. */
async function idsIn(path: string): Promise<string[]> {
  const store = sqlite(path)
  try {
    return (await store.list({}, { limit: 500 })).events.map(({ id }) => id).sort()
  } finally {
    await store.close()
  }
}

test('there is another program to test with', () => {
  expect(otherPrograms.length).toBeGreaterThan(0)
})

describe.each(otherPrograms.map((program) => [program.name, program] as const))('%s', (_, program) => {
  test('reads, checkpoints and copies the log of a running server, and no acknowledged event is lost', async () => {
    const log = join(folder.path, '.hookonce/events.db')
    const dev = await startDev()
    const looks: Record<string, () => Promise<unknown>> = {
      start: async () => {},
      read: () => program.sql(log, 'select count(*) from hookonce_events'),
      checkpoint: () => program.sql(log, 'pragma wal_checkpoint(truncate)'),
      vacuum: () => program.sql(log, `vacuum into '${join(folder.path, 'copy.db')}'`),
      backup: () => program.backup(log, join(folder.path, 'backup.db')),
    }
    const sent: string[] = []
    for (const [name, look] of Object.entries(looks)) {
      await look()
      await dev.deliver(named(name))
      sent.push(...named(name))
      expect(deletedFilesOf(dev.pid)).toEqual([])
    }
    dev.server.signal('SIGKILL')
    await dev.server.ended()
    expect(await idsIn(log)).toEqual(sent.sort())
    // A copy is a log of its own, with what was acknowledged before it was made.
    expect(await idsIn(join(folder.path, 'backup.db'))).toHaveLength(40)
  })
})

/** One of them is enough: all go through the same library. */
describe.each(otherPrograms.slice(0, 1).map((program) => [program.name, program] as const))(
  '%s',
  (_, program) => {
    test('reads a log that two servers share; one of them is killed, and no acknowledged event is lost', async () => {
      const log = join(folder.path, '.hookonce/events.db')
      const [one, two] = [await startDev(), await startDev()]
      const sent: string[] = []
      const deliver = async (dev: Dev, prefix: string) => {
        await dev.deliver(named(prefix))
        sent.push(...named(prefix))
      }
      await deliver(one, 'one')
      await deliver(two, 'two')
      await program.sql(log, 'select count(*) from hookonce_events')
      await deliver(one, 'one_more')
      one.server.signal('SIGKILL')
      await one.server.ended()
      await program.sql(log, 'select count(*) from hookonce_events')
      await deliver(two, 'two_more')
      expect(deletedFilesOf(two.pid)).toEqual([])
      const three = await startDev()
      await deliver(three, 'three')
      two.server.signal('SIGKILL')
      await two.server.ended()
      await program.sql(log, 'select count(*) from hookonce_events')
      await deliver(three, 'three_more')
      three.server.signal('SIGKILL')
      await three.server.ended()
      expect(await idsIn(log)).toEqual(sent.sort())
    })

    test('reads a log with two stores in one process, of which one was opened later and closed', async () => {
      const log = join(folder.path, 'events.db')
      const [first, second] = [sqlite(log), sqlite(log)]
      await first.migrate()
      await first.record([delivery('before')])
      await second.record([delivery('second')])
      await second.list({})
      await second.close()
      await first.list({})
      expect(await program.sql(log, 'select count(*) from hookonce_events')).toBe('2')
      await first.record([delivery('after')])
      expect(deletedFilesOf(process.pid).filter((name) => name.includes(folder.path))).toEqual([])
      expect(await program.sql(log, 'select count(*) from hookonce_events')).toBe('3')
      await first.close()
    })

    test('takes the write-ahead log away after a plain read of the file: no event is acknowledged then', async () => {
      const log = join(folder.path, 'events.db')
      const store = sqlite(log)
      await store.migrate()
      await store.record([delivery('before')])
      // What an app must not do in the process that writes: it drops SQLite's locks.
      readFileSync(log)
      await program.sql(log, 'select count(*) from hookonce_events')
      const refused = { code: 'STORE_UNAVAILABLE', message: expect.stringContaining('restart this process') }
      await expect(store.record([delivery('after')])).rejects.toMatchObject(refused)
      await expect(store.record([delivery('again')])).rejects.toMatchObject(refused)
      await store.close()
      expect(await program.sql(log, 'select group_concat(event_id) from hookonce_events')).toBe('before')
    })

    test('reads the spool of a running process, and no spooled delivery is lost', async () => {
      const path = join(folder.path, 'spool.db')
      const child = startChild('./spool-child.mjs', [path, '', '0', 'sqlite', join(folder.path, 'events.db')])
      children.push(child)
      await child.said(1)
      const spool = async (ids: readonly string[]) => {
        for (const id of ids) {
          const before = child.lines.length
          child.tell(`send s0 ${id}`)
          await child.said(before + 1)
          expect(child.lines[before]).toBe(`spooled ${id}`)
        }
      }
      await spool(named('first'))
      await program.sql(path, 'select count(*) from spooled')
      await spool(named('second'))
      await program.sql(path, 'pragma wal_checkpoint(truncate)')
      await spool(named('third'))
      expect(deletedFilesOf(child.pid)).toEqual([])
      await child.kill()
      expect(await program.sql(path, 'select count(*) from spooled')).toBe('30')
    })
  },
)

describe('the write-ahead log is cut by another program', () => {
  const refused = { code: 'STORE_UNAVAILABLE', message: expect.stringContaining('restart this process') }
  const cuts: Record<string, (size: number) => number> = {
    'to nothing': () => 0,
    'inside its header': () => 20,
    'to its first half': (size) => Math.floor(size / 2),
    'at the end of a frame': (size) => size - 3 * 4_120,
    'inside its last frame': (size) => size - 100,
  }
  test.each(Object.entries(cuts))('%s: no later event is acknowledged', async (_, cut) => {
    const log = join(folder.path, 'events.db')
    const store = sqlite(log)
    await store.migrate()
    for (const id of named('before')) await store.record([delivery(id)])
    await run('truncate', ['-s', String(cut(statSync(`${log}-wal`).size)), `${log}-wal`])
    for (const id of named('after', 40))
      await expect(store.record([delivery(id)])).rejects.toMatchObject(refused)
    await store.close()
  })

  test('while a server runs: it answers 503, and the next process goes on with the log', async () => {
    const log = join(folder.path, '.hookonce/events.db')
    const dev = await startDev()
    await dev.deliver(named('before'))
    await otherPrograms[0]!.sql(log, 'pragma wal_checkpoint(truncate)')
    await dev.deliver(named('cut off', 1))
    await run('truncate', ['-s', '0', `${log}-wal`])
    await dev.deliver(named('cut', 5), 503)
    dev.server.signal('SIGKILL')
    await dev.server.ended()
    const next = await startDev()
    await next.deliver(named('after'))
    next.server.signal('SIGKILL')
    await next.server.ended()
    expect(await idsIn(log)).toEqual([...named('before'), ...named('after')].sort())
  })

  test('and emptied by checkpoints of another program: every event is acknowledged and kept', async () => {
    const log = join(folder.path, 'events.db')
    const store = sqlite(log)
    await store.migrate()
    let isRunning = true
    const checkpoints = async () => {
      for (const how of Array(8).fill(['truncate', 'restart', 'passive']).flat())
        await otherPrograms[0]!.sql(log, `pragma wal_checkpoint(${how})`)
      isRunning = false
    }
    const other = checkpoints()
    const sent: string[] = []
    while (isRunning) {
      const id = `evt_${String(sent.length).padStart(6, '0')}`
      await store.record([delivery(id)])
      sent.push(id)
    }
    await other
    await store.close()
    expect((await stored(log)).sort()).toEqual(sent)
  })

  test('and emptied and begun again between two looks at one commit: that is not a cut', async () => {
    const log = join(folder.path, 'events.db')
    const walFile = `${log}-wal`
    const writer = new DatabaseSync(log)
    writer.exec('pragma journal_mode = wal')
    writer.exec('create table notes (note text)')
    const write = (kilobytes: number) =>
      writer.prepare('insert into notes values (?)').run('x'.repeat(1_024 * kilobytes))
    const wal = writeAheadLog(walFile)
    expect(wal.begin(statSync(walFile).size)).toBe(true)
    write(100)
    const { size } = statSync(walFile)
    await otherPrograms[0]!.sql(log, 'pragma wal_checkpoint(truncate)')
    write(1)
    // The size is that of the long log, the bytes are those of the short one.
    expect(wal.committed(size)).toBe(true)
    expect(wal.begin(statSync(walFile).size)).toBe(true)
    wal.close()
    writer.close()
  })
})

/** Every id of the log. */
async function stored(path: string): Promise<string[]> {
  const store = sqlite(path)
  const ids: string[] = []
  let cursor: string | null = null
  do {
    const page: EventPage = await store.list({}, { limit: 500, cursor })
    ids.push(...page.events.map(({ id }) => id))
    cursor = page.next
  } while (cursor !== null)
  await store.close()
  return ids
}

test('doctor and the other commands run beside a server, and no acknowledged event is lost', async () => {
  const dev = await startDev()
  const commands = [['doctor'], ['events', 'list'], ['prune', '--dry-run'], ['doctor']]
  const sent = named('start')
  await dev.deliver(sent)
  for (const [i, command] of commands.entries()) {
    await folder.run(command)
    const ids = named(`after_${i}`)
    await dev.deliver(ids)
    sent.push(...ids)
    expect(deletedFilesOf(dev.pid)).toEqual([])
  }
  dev.server.signal('SIGKILL')
  await dev.server.ended()
  expect(await idsIn(join(folder.path, '.hookonce/events.db'))).toEqual(sent.sort())
})
