/** Endpoints that mean harm: each costs its own attempts and nobody else's, and intake answers all the while. */
import { createServer as createHttpServer, request } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { addDestinations } from 'hookonce/forward'
import { nodeHandler } from 'hookonce/node'
import { afterEach, expect, test } from 'vitest'
import { allowList } from '#dist/forward/address.js'
import { send } from '#dist/forward/send.js'
import { ids, onLog, shop, until } from '../support/processing.js'

const secret = `whsec_${Buffer.alloc(24, 3).toString('base64')}`
const servers: Server[] = []
const sockets = new Set<Socket>()
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))))
})

/** Speaks bytes, not HTTP. */
async function listen(speak: (socket: Socket) => void): Promise<URL> {
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.once('data', () => speak(socket))
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
}

/** Writes for as long as it is read; what it got rid of is counted. */
function pour(socket: Socket, head: string, chunk: string, poured: { bytes: number }): void {
  socket.write(head)
  const more = () => {
    while (!socket.destroyed && socket.write(chunk)) poured.bytes += chunk.length
  }
  socket.on('drain', more)
  more()
}

function drip(socket: Socket, head: string, piece: () => string): void {
  socket.write(head)
  const timer = setInterval(() => socket.write(piece()), 10)
  socket.on('close', () => clearInterval(timer))
}

const allow = allowList('x', ['127.0.0.1'])
const to = (url: URL, timeoutMs: number) =>
  send({ what: 'x', url, headers: {}, body: Buffer.from('{}'), timeoutMs, allow })

test('a status that came is believed, however endless the body is, and little of it is read', async () => {
  const poured = { bytes: 0 }
  const url = await listen((socket) =>
    pour(socket, 'HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n', 'x'.repeat(65_536), poured),
  )
  expect((await to(url, 20_000)).httpStatus).toBe(200)
  // What the two kernels buffer between them is all that can be lost beyond our 64 KiB.
  expect(poured.bytes).toBeLessThan(32 * 1024 * 1024)
  await until(() => sockets.size === 0, 'the connection is closed')
})

test('a body that drips is not waited for longer than two seconds', async () => {
  const url = await listen((socket) =>
    drip(socket, 'HTTP/1.1 500 No\r\ncontent-length: 1000000\r\n\r\n', () => 'x'),
  )
  expect((await to(url, 20_000)).httpStatus).toBe(500)
  await until(() => sockets.size === 0, 'the connection is closed')
})

const silent: Record<string, (socket: Socket) => void> = {
  'says nothing': () => {},
  'drips its headers': (socket) => drip(socket, 'HTTP/1.1 200 OK\r\n', () => `x-${Math.random()}: 1\r\n`),
  'sends a header bomb': (socket) =>
    pour(socket, 'HTTP/1.1 200 OK\r\n', `x-bomb: ${'y'.repeat(8_000)}\r\n`, { bytes: 0 }),
  'sends one endless header': (socket) =>
    pour(socket, 'HTTP/1.1 200 OK\r\nx: ', 'y'.repeat(8_000), { bytes: 0 }),
  'sends endless interim answers': (socket) => drip(socket, '', () => 'HTTP/1.1 103 Early Hints\r\n\r\n'),
  'switches protocols': (socket) =>
    socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
  'speaks another protocol': (socket) => socket.write('220 mail.example ESMTP\r\n'),
  'hangs up': (socket) => socket.destroy(),
  'hangs up in its headers': (socket) => socket.end('HTTP/1.1 200 OK\r\nx-a: b\r\n'),
  'says two lengths': (socket) =>
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello'),
  'talks TLS nonsense': (socket) => socket.end(Buffer.from('1503010002022850', 'hex')),
}
for (const [what, speak] of Object.entries(silent)) {
  test(`an endpoint that ${what} is a failure within its time, and its words are not in the error`, async () => {
    const url = await listen(speak)
    const error = await to(url, 300).catch((caught: unknown) => caught)
    expect(error).toMatchObject({ code: 'DESTINATION_FAILED' })
    expect(String(error)).not.toMatch(/ESMTP|bomb|yyy|hello|Early/)
    await until(() => sockets.size === 0, 'the connection is closed')
  })
}

test('TLS spoken to something that does not is a failure', async () => {
  const url = await listen((socket) => drip(socket, 'no', () => 'no'))
  url.protocol = 'https:'
  await expect(to(url, 300)).rejects.toMatchObject({ code: 'DESTINATION_FAILED' })
})

onLog('SQLite', (bench) => {
  test('while all of them are sent to, intake takes every delivery and other handlers run', async () => {
    const { inbox } = bench.inbox({
      sources: { shop: shop(), calm: shop() },
      processing: { lease: 60_000, poll: 20 },
    })
    const hostile = [
      ...Object.values(silent),
      (socket: Socket) => pour(socket, 'HTTP/1.1 500 No\r\n\r\n', 'x'.repeat(65_536), { bytes: 0 }),
      (socket: Socket) => socket.end('HTTP/1.1 301 Moved\r\nlocation: /\r\ncontent-length: 0\r\n\r\n'),
    ]
    const named = await Promise.all(
      hostile.map(async (speak, i) => {
        const { href: url } = await listen(speak)
        return [
          `h${i}`,
          { url, secret, sources: ['shop'], allowPrivate: ['127.0.0.1'], timeout: 300 },
        ] as const
      }),
    )
    addDestinations(inbox, Object.fromEntries(named))
    const handled: string[] = []
    inbox.on('calm', '*', (event) => void handled.push(event.id))
    await inbox.start()
    const server = createHttpServer(nodeHandler(inbox))
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const before = process.memoryUsage().rss
    const codes = await Promise.all(
      ids(200).map(
        (id, i) =>
          new Promise<number>((resolve, reject) => {
            const path = `/webhooks/${i % 2 ? 'calm' : 'shop'}`
            const sent = request(
              { port, host: '127.0.0.1', path, method: 'POST', agent: false },
              (answer) => {
                answer.resume().on('end', () => resolve(answer.statusCode!))
              },
            )
            sent.on('error', reject)
            sent.end(JSON.stringify({ id, type: 'order.paid' }))
          }),
      ),
    )
    expect(new Set(codes)).toEqual(new Set([200]))
    await until(() => handled.length === 100, 'the other handler has run for all its events')
    await until(
      async () => (await inbox.events.stats()).some((one) => one.retrying > 0),
      'the hostile ones were tried',
    )
    expect(process.memoryUsage().rss - before).toBeLessThan(300 * 1024 * 1024)
  })
})
