/** The end of a process: real processes, real signals, and a ledger outside of them. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Child, startChild } from '../support/child.js'
import { startLoad } from '../support/load.js'
import { postgresLog, type SharedLog, sqliteLog } from '../support/logs.js'
import { rows, until } from '../support/processing.js'

const children: Child[] = []
let log: SharedLog

function child(told: object): Child {
  const started = startChild('./server-child.mjs', [JSON.stringify(told), log.insertEffect, ...log.args])
  children.push(started)
  return started
}

/** The URL and the process of a server that has said it listens. */
async function listening(server: Child): Promise<{ url: string; pid: number }> {
  await server.said(1)
  const [url = '', pid = ''] = server.lines[0]!.split(' ')
  return { url, pid: Number(pid) }
}

/** A claimed event whose handler has not begun is handed back at a signal, so its state in the log is not enough. */
const begun = (server: Child, id: string) => until(() => server.lines.includes(`begun ${id}`), 'begun')

const states = async () =>
  new Map(
    (await rows(log, 'select event_id, processing_state from log.event_log')).map((row) => [
      String(row.event_id),
      String(row.processing_state),
    ]),
  )

for (const [kind, make] of [
  ['SQLite', () => sqliteLog()],
  ['PostgreSQL', postgresLog],
] as const) {
  describe(`on ${kind}`, () => {
    beforeEach(async () => {
      log = await make()
    })
    afterEach(async () => {
      for (const one of children.splice(0)) await one.kill()
      await log.remove()
    })

    test('SIGTERM under load at 64 connections: no accepted request fails, nothing is lost, it leaves in time', async () => {
      // A lease that no pause of this machine outlasts: what is still held in the end was not handed back.
      const server = child({ processing: { lease: 60_000, poll: 50 }, server: { drain: 60_000 } })
      const { url } = await listening(server)
      const load = startLoad(url, 64)
      await load.answered(400)
      const toldAt = performance.now()
      server.signal('SIGTERM')
      const code = await server.ended()
      const tookMs = performance.now() - toldAt
      await load.ended
      // Every delivery was sent on an open connection, so every one of them has to be answered.
      expect(load.ledger.filter((entry) => entry.httpStatus !== 200)).toEqual([])
      expect(code).toBe(0)
      expect(tookMs).toBeLessThan(60_500)
      const found = await states()
      expect(load.ledger.filter(({ id }) => !found.has(id))).toEqual([])
      expect(found.size).toBe(load.ledger.length)
      // What was begun is finished, what was not begun was handed back: nothing is left under a lease.
      expect(new Set(found.values()).has('processing')).toBe(false)
      const effects = (await log.effects()).map((value) => value.split(' ')[0])
      expect(new Set(effects).size).toBe(effects.length)
      expect(effects.length).toBe([...found.values()].filter((state) => state === 'succeeded').length)
    })

    test('a handler that runs at SIGTERM finishes; one that ends late is handed back', async () => {
      const quick = child({ saysBegun: true, handlerMs: 1_500, server: { drain: 60_000 } })
      const { url } = await listening(quick)
      await post(url, 'quick')
      await begun(quick, 'quick')
      quick.signal('SIGTERM')
      expect(await quick.ended()).toBe(0)
      expect((await states()).get('quick')).toBe('succeeded')

      const told = { processing: { lease: 60_000 }, server: { drain: 1_200 } }
      // Late, and well before the process ends, which is at most two seconds after the signal.
      const slow = child({ ...told, saysBegun: true, handlerMs: 60_000, endsMs: 100 })
      await post((await listening(slow)).url, 'slow')
      await begun(slow, 'slow')
      slow.signal('SIGTERM')
      expect(await slow.ended()).toBe(0)
      expect((await states()).get('slow')).toBe('pending') // with a lease of a minute it would still be processing
      expect(await log.effects()).toHaveLength(1)
    })

    test('at SIGTERM an event is handed back beside a handler that ignores its signal, which keeps its lease', async () => {
      const told = { processing: { lease: 60_000, concurrency: 1 }, server: { drain: 1_200 } }
      const server = child({ ...told, saysBegun: true, handlerMs: 60_000 })
      const { url } = await listening(server)
      await post(url, 'hangs')
      await begun(server, 'hangs')
      await post(url, 'waits')
      server.signal('SIGTERM')
      expect(await server.ended()).toBe(0)
      expect(Object.fromEntries(await states())).toEqual({ hangs: 'processing', waits: 'pending' })
    })

    test('a second signal means now', async () => {
      const server = child({ saysBegun: true, handlerMs: 60_000, server: { drain: 50_000 } })
      await post((await listening(server)).url, 'e')
      await begun(server, 'e')
      server.signal('SIGTERM')
      await until(() => server.lines.includes('stopping: SIGTERM'), 'stopping')
      server.signal('SIGINT')
      expect(await server.ended()).toBe(1)
    })
  })
}

async function post(url: string, id: string): Promise<void> {
  const response = await fetch(`${url}/webhooks/shop`, {
    method: 'POST',
    headers: { connection: 'close' },
    body: JSON.stringify({ id, type: 'x' }),
  })
  expect(response.status).toBe(200)
}
