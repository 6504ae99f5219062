/**
 * Do hostile destinations slow down intake? One server with deliveries at a constant rate. It has either one normal
 * destination or five hostile ones: slow bytes, an endless answer, redirects, endless headers, no TLS on an https URL.
 */
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcp, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { quantile } from '../report/table.js'
import type { Suite } from '../suite.js'
import { steadyLoad } from '../support/load.js'
import { stripeRequests } from '../support/requests.js'

const PER_SECOND = 200

export const forward: Suite = {
  name: 'forward',
  title: 'Hostile destinations',
  minutes: 1,
  async run(bench) {
    const seconds = bench.short ? 0.3 : 5
    const targets = await Promise.all([friendly(), ...hostile()])
    bench.after(() => {
      for (const { server, sockets } of targets) {
        server.close()
        // Those that send endlessly hold their connections.
        for (const socket of sockets) socket.destroy()
      }
    })
    const urls = targets.map(({ server }) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    const kinds: Record<string, string[]> = {
      'one that answers': urls.slice(0, 1),
      'five hostile ones': [...urls.slice(1), urls[1]!.replace('http:', 'https:')],
    }
    const names = Object.keys(kinds)
    const folder = bench.folder()
    const samples = await bench.rounds({
      title: `${PER_SECOND} deliveries a second, each forwarded`,
      sides: names,
      most: 5,
      async measure(kind, round) {
        const child = await bench.child(
          new URL('../sides/server-child.ts', import.meta.url),
          ['forwarding'],
          {
            BENCH_SQLITE: `${folder}/${kind.replaceAll(' ', '-')}-${round}.db`,
            BENCH_DESTINATIONS: kinds[kind]!.join(' '),
          },
        )
        const { port } = await child.ask<{ port: number }>({ do: 'listen' })
        const requests = stripeRequests(Math.ceil(PER_SECOND * seconds))
        const { latenciesMs } = await steadyLoad(port, PER_SECOND, requests, () => sleep(seconds * 1_000))
        await child.kill()
        return { p50: quantile([...latenciesMs], 0.5), p99: quantile([...latenciesMs], 0.99) }
      },
    })
    return {
      tables: [
        {
          title: 'Acknowledgements on SQLite, ms',
          head: ['destinations', 'p50', 'p99', 'p99 ratio'],
          rows: names.map((kind) => [
            kind,
            samples.of(kind, 'p50'),
            samples.of(kind, 'p99'),
            samples.ratio(kind, names[0]!, 'p99'),
          ]),
        },
      ],
      figures: { ratio: samples.ratio(names[1]!, names[0]!, 'p99') },
    }
  },
}

interface Target {
  readonly server: Server
  readonly sockets: Set<Socket>
}

function listening(server: Server): Promise<Target> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => sockets.add(socket))
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve({ server, sockets })))
}

const friendly = () =>
  listening(
    createServer((request, response) => {
      request.resume().on('end', () => response.end())
    }),
  )

function hostile(): Promise<Target>[] {
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
