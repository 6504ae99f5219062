/** Two servers and two workers on one PostgreSQL. One of each is killed: what they held is taken over, and happens once. */
import { afterEach, expect, test } from 'vitest'
import { type Child, startChild } from '../support/child.js'
import { startLoad } from '../support/load.js'
import { postgresLog, type SharedLog } from '../support/logs.js'
import { rows, until } from '../support/processing.js'

const children: Child[] = []
let log: SharedLog
afterEach(async () => {
  for (const child of children.splice(0)) await child.kill()
  await log.remove()
})

function start(told: object): Child {
  const child = startChild('./server-child.mjs', [JSON.stringify(told), log.insertEffect, ...log.args])
  children.push(child)
  return child
}

test('they share the work; kill -9 leaves nothing stuck beyond a lease, and nothing that was acknowledged is lost', async () => {
  log = await postgresLog()
  const worker = { worker: true, handlerMs: 15, processing: { lease: 1_000, poll: 50, concurrency: 4 } }
  const servers = [start({ processing: false }), start({ processing: false })] as const
  const workers = [start(worker), start(worker)] as const
  await Promise.all([...servers, ...workers].map((child) => child.said(1)))
  const urls = servers.map((child) => child.lines[0]!.split(' ')[0]!)
  const loads = [startLoad(urls[0]!, 8, 'a'), startLoad(urls[1]!, 8, 'b')] as const
  await Promise.all(loads.map((load) => load.answered(150)))
  const workedBy = async () => new Set((await log.effects()).map((value) => value.split(' ')[1]))
  await until(async () => (await workedBy()).size === 2, 'both work')

  // What the dead worker held is not handed back by anybody: only the end of its lease sets it free.
  await Promise.all([workers[0].kill(), servers[0].kill()])
  await loads[1].answered(loads[1].ledger.length + 50) // the other one goes on
  for (const load of loads) load.stop()
  await Promise.all(loads.map((load) => load.ended))

  const acked = loads.flatMap((load) => load.ledger.filter((entry) => entry.httpStatus === 200))
  const state = async () =>
    new Map(
      (await rows(log, 'select event_id, processing_state from log.event_log')).map((row) => [
        String(row.event_id),
        String(row.processing_state),
      ]),
    )
  await until(async () => {
    const found = await state()
    return (
      acked.every(({ id }) => found.get(id) === 'succeeded') && ![...found.values()].includes('processing')
    )
  }, 'all of it is done')
  const effects = (await log.effects()).map((value) => value.split(' ')[0])
  expect(new Set(effects).size).toBe(effects.length)
  expect(loads[1].ledger.filter((entry) => entry.httpStatus !== 200)).toEqual([])
})
