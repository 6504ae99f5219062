/** An idle system: from sending the HTTP delivery to the start of its handler, one at a time, the two stores in turn. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Child, startChild } from '../support/child-process.js'
import { httpRequest } from '../support/load.js'
import { quantile, table } from '../support/table.js'

const DELIVERIES = 200
const WARM_UP = 20

interface Server {
  readonly name: string
  readonly child: Child
  readonly socket: Socket
  readonly toHandler: number[]
  readonly toAnswer: number[]
}

export async function latencyBench(url: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'hookonce-bench-'))
  const servers: Server[] = []
  try {
    for (const [name, store] of [
      ['sqlite', `sqlite:${join(folder, 'events.db')}`],
      ['postgres', url],
    ] as const) {
      const child = await startChild(new URL('./latency-child.ts', import.meta.url), [name], {
        BENCH_STORE: store,
      })
      const { port } = await child.ask<{ port: number }>({ do: 'listen' })
      const socket = connect({ port, host: '127.0.0.1', noDelay: true })
      await once(socket, 'connect')
      servers.push({ name, child, socket, toHandler: [], toAnswer: [] })
    }
    for (let i = -WARM_UP; i < DELIVERIES; i++) {
      for (const server of servers) {
        await sleep(10 + Math.random() * 20) // idle again, and at no fixed beat with any timer
        const { toAnswer, toHandler } = await deliver(server)
        if (i < 0) continue
        server.toAnswer.push(toAnswer)
        server.toHandler.push(toHandler)
      }
    }
    for (const { child, socket } of servers) {
      socket.destroy()
      await child.stop()
    }
  } finally {
    for (const { child } of servers) child.process.kill()
    rmSync(folder, { recursive: true })
  }
  console.log(`\nidle latency, ${DELIVERIES} deliveries one by one with pauses, ms from sending`)
  console.log(
    table(
      ['store', 'answer p50', 'handler p50', 'handler p99'],
      servers.map(({ name, toAnswer, toHandler }) => [
        name,
        quantile(toAnswer, 0.5),
        quantile(toHandler, 0.5),
        quantile(toHandler, 0.99),
      ]),
    ),
  )
}

/** The handler records its start by the monotonic clock of the machine, which both processes share. */
async function deliver({ child, socket }: Server): Promise<{ toAnswer: number; toHandler: number }> {
  const body = Buffer.from(JSON.stringify({ id: `evt_${randomBytes(8).toString('hex')}`, type: 'paid' }))
  const request = httpRequest('/webhooks/shop', { 'content-type': 'application/json' }, body)
  const sentAt = process.hrtime.bigint()
  socket.write(request)
  const [answer] = (await once(socket, 'data')) as [Buffer]
  const answeredAt = process.hrtime.bigint()
  if (!answer.toString('latin1').startsWith('HTTP/1.1 200'))
    throw new Error(`${child.process.spawnargs.at(-1)}: ${answer}`)
  const handledAt = BigInt(await child.ask<string>({ do: 'handled' }))
  return { toAnswer: Number(answeredAt - sentAt) / 1e6, toHandler: Number(handledAt - sentAt) / 1e6 }
}
