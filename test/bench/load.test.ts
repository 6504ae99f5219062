/** The load generator: what it counts must be the server's time and not its own. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { steadyLoad } from '../../bench/support/load.js'
import { stripeRequests } from '../../bench/support/requests.js'

test('a request at a constant rate is sent when it is due, and not one interval later', async () => {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(200, { 'content-length': 0 }).end())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const dueAts: number[] = []
  const { latenciesMs, count } = await steadyLoad(port, 2, stripeRequests(4), undefined, (_, dueAt) =>
    dueAts.push(dueAt),
  )
  expect(count).toBe(4)
  expect(dueAts.map((at) => Math.round(at - dueAts[0]!))).toEqual([0, 500, 1_000, 1_500])
  // One that is sent an interval late has a latency of 500 ms at least.
  expect(Math.min(...latenciesMs)).toBeLessThan(400)
})
