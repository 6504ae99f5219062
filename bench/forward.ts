/**
 * Do hostile destinations slow down intake? `-- forward [rounds] [seconds]`. One server with deliveries at a constant
 * rate. It has either one normal destination or five hostile ones: slow bytes, an endless answer, redirects, endless
 * headers, no TLS on an https URL.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcp, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { stripe } from 'hookonce/providers'
import { steadyLoad } from './support/load.js'
import { startServer } from './support/server-process.js'
import { stripeRequests } from './support/stripe-requests.js'
import { median, quantile, table } from './support/table.js'

const PER_SECOND = 200

export async function forwardBench(args: string[]): Promise<void> {
  const rounds = Number(args[0] ?? 4)
  const seconds = Number(args[1] ?? 6)
  const secret = `whsec_${randomBytes(24).toString('hex')}`
  const folder = mkdtempSync(join(tmpdir(), 'hookonce-bench-'))
  const targets = await Promise.all([friendly(), ...hostile()])
  const urls = targets.map((target) => `http://127.0.0.1:${(target.address() as AddressInfo).port}/`)
  const kinds = {
    'one that answers': urls.slice(0, 1),
    'five hostile ones': [...urls.slice(1), urls[1]!.replace('http:', 'https:')],
  }
  const results = new Map(
    Object.keys(kinds).map((kind) => [kind, { p50: [] as number[], p99: [] as number[] }]),
  )
  try {
    for (let round = -1; round < rounds; round++) {
      for (const [kind, to] of Object.entries(kinds)) {
        const server = await startServer('forwarding', {
          BENCH_SECRET: secret,
          BENCH_SQLITE: join(folder, `${kind.replaceAll(' ', '-')}-${round}.db`),
          BENCH_DESTINATIONS: to.join(' '),
        })
        const requests = await stripeRequests(stripe({ secret }), PER_SECOND * seconds)
        const answered = await steadyLoad(server.port, PER_SECOND, requests, sleep(seconds * 1_000))
        await server.stop()
        if (Object.keys(answered.statuses).join() !== '200')
          throw new Error(JSON.stringify(answered.statuses))
        if (round < 0) continue // warm-up
        results.get(kind)!.p50.push(quantile([...answered.latenciesMs], 0.5))
        results.get(kind)!.p99.push(quantile([...answered.latenciesMs], 0.99))
      }
    }
  } finally {
    for (const target of targets) target.close()
    rmSync(folder, { recursive: true })
  }
  console.log(`\nacks at ${PER_SECOND} deliveries a second, each forwarded, ms; medians of ${rounds} rounds`)
  const p99 = (kind: string) => median(results.get(kind)!.p99)
  const base = p99('one that answers')
  console.log(
    table(
      ['destination', 'p50', 'p99', 'p99 ratio'],
      [...results].map(([kind, { p50 }]) => [kind, median(p50), p99(kind), p99(kind) / base]),
    ),
  )
  process.exit(0) // what drips still holds its sockets
}

function listening(server: Server): Promise<Server> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)))
}

const friendly = () =>
  listening(
    createServer((request, response) => {
      request.resume().on('end', () => response.end())
    }),
  )

function hostile(): Promise<Server>[] {
  const drip = createServer((_request, response) => {
    const timer = setInterval(() => response.write('x'), 200)
    response.on('close', () => clearInterval(timer))
  })
  const endless = createServer((_request, response) => {
    const more = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
      response.once('drain', more)
    }
    response.on('error', () => {})
    more()
  })
  const redirect = createServer((_request, response) => void response.writeHead(301, { location: '/' }).end())
  const headers = createTcp((socket) => {
    socket.on('error', () => {})
    socket.write('HTTP/1.1 200 OK\r\n')
    const timer = setInterval(
      () => socket.write(`x-${randomBytes(4).toString('hex')}: ${'y'.repeat(4_000)}\r\n`),
      1,
    )
    socket.on('close', () => clearInterval(timer))
  })
  return [drip, endless, redirect, headers].map(listening)
}
