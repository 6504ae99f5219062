/** Nodes behind a plain load balancer are restarted one after the other. */
import { afterEach, expect, test } from 'vitest'
import { startBalancer } from '../support/balancer.js'
import { type Child, startChild } from '../support/child.js'
import { freePort } from '../support/free-port.js'
import { startLoad } from '../support/load.js'
import { postgresLog, type SharedLog } from '../support/logs.js'
import { until } from '../support/processing.js'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function startNode(log: SharedLog, port: number, more: object = {}): Promise<Child> {
  // The balancer has ten seconds to notice that a node stops. A node whose database is slow to answer stays in.
  const times = { lameDuck: 10_000, drain: 60_000, readyTimeout: 60_000 }
  const told = JSON.stringify({ server: { port, ...times, ...more } })
  const node = startChild('./server-child.mjs', [told, log.insertEffect, ...log.args])
  cleanups.push(() => node.kill())
  await node.said(1)
  return node
}

test('no request fails while two nodes behind a plain load balancer are restarted', {
  timeout: 120_000,
}, async () => {
  const log = await postgresLog()
  cleanups.push(() => log.remove())
  const ports = [await freePort(), await freePort()]
  const nodes = [await startNode(log, ports[0]!), await startNode(log, ports[1]!)]
  const urls = ports.map((port) => `http://127.0.0.1:${port}`)
  const balancer = await startBalancer(urls)
  cleanups.push(() => balancer.close())
  const bothUp = () => until(() => urls.every(balancer.isUp), 'both nodes are up')
  await bothUp()
  const load = startLoad(balancer.url, 8, 'load', 40)
  await load.answered(100)
  for (const [i, port] of ports.entries()) {
    nodes[i]!.signal('SIGTERM')
    expect(await nodes[i]!.ended()).toBe(0)
    nodes[i] = await startNode(log, port)
    await bothUp()
    await load.answered(load.ledger.length + 100)
  }
  load.stop()
  await load.ended
  expect(load.ledger.length).toBeGreaterThan(300)
  expect(load.ledger.filter(({ httpStatus }) => httpStatus !== 200)).toEqual([])
})

test('a node that stops takes new connections and closes each after its answer, until the time is over', async () => {
  const log = await postgresLog()
  cleanups.push(() => log.remove())
  const port = await freePort()
  const node = await startNode(log, port, { lameDuck: 60_000, drain: 100_000 })
  const url = `http://127.0.0.1:${port}`
  // An answer: by then the process listens to signals.
  expect((await fetch(`${url}/healthz`)).status).toBe(200)
  node.signal('SIGTERM')
  await node.said(2)
  const ready = await fetch(`${url}/readyz`)
  expect([ready.status, await ready.json()]).toEqual([503, { status: 'stopping' }])
  const answer = await fetch(`${url}/webhooks/shop`, { method: 'POST', body: '{"id":"a","type":"x"}' })
  expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close'])
  node.signal('SIGTERM') // the second one is now
  expect(await node.ended()).toBe(1)
  await expect(fetch(`${url}/readyz`)).rejects.toThrow()
})
