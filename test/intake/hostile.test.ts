/** Senders that mean harm, over real sockets: bounded memory, bounded time, and others are served meanwhile. */

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import type { Inbox } from 'hookonce'
import { nodeHandler } from 'hookonce/node'
import { stripe } from 'hookonce/providers'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { loggedInbox, secretOf } from '../support/inboxes.js'

const source = stripe({ secret: secretOf('stripe') })
let inbox: Inbox
let server: Server
let port: number

beforeEach(async () => {
  inbox = loggedInbox({
    store: 'sqlite::memory:',
    sources: { stripe: source },
    limits: { bodyTimeout: 1_000 },
  }).inbox
  await inbox.start()
  server = createServer(nodeHandler(inbox))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterEach(async () => {
  await new Promise((resolve) => server.close(resolve).closeAllConnections())
  await inbox.stop()
})

async function good(): Promise<number> {
  const { headers, body } = await source.sign(source.sample({ now: Date.now() }))
  return (
    await fetch(`http://127.0.0.1:${port}/webhooks/stripe`, {
      method: 'POST',
      headers,
      body: body,
    })
  ).status
}

function rawRequest(head: string): { socket: Socket; status: Promise<string> } {
  const socket = connect(port, '127.0.0.1')
  socket.write(head)
  const status = new Promise<string>((resolve) => {
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(text.slice(9, 12)))
  })
  return { socket, status }
}

test('a 2 GB chunked body is cut at the limit, and memory stays flat', async () => {
  const before = process.memoryUsage().rss
  const { socket, status } = rawRequest(
    'POST /webhooks/stripe HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n',
  )
  const megabyte = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(1024 * 1024), Buffer.from('\r\n')])
  let sent = 0
  while (sent < 2048 && !socket.destroyed) {
    sent++
    if (!socket.write(megabyte))
      await new Promise((resolve) => socket.once('drain', resolve).once('close', resolve))
  }
  expect(await status).toBe('413')
  expect(sent).toBeLessThan(64)
  expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024)
  expect(await good()).toBe(200)
})

test('a drip of one byte at a time is ended, and others are served meanwhile', async () => {
  const drips = Array.from({ length: 200 }, () =>
    rawRequest('POST /webhooks/stripe HTTP/1.1\r\nhost: h\r\ncontent-length: 1000\r\n\r\n'),
  )
  const timer = setInterval(() => {
    for (const { socket } of drips) if (socket.writable) socket.write('x')
  }, 100)
  try {
    for (let i = 0; i < 20; i++) expect(await good()).toBe(200)
    expect(new Set(await Promise.all(drips.map((drip) => drip.status)))).toEqual(new Set(['408']))
  } finally {
    clearInterval(timer)
  }
})

test('a gzip bomb is refused without being opened', async () => {
  const bomb = gzipSync(Buffer.alloc(128 * 1024 * 1024))
  const { headers, body } = await source.sign({
    body: bomb,
    now: Date.now(),
    headers: { 'content-encoding': 'gzip' },
  })
  const response = await fetch(`http://127.0.0.1:${port}/webhooks/stripe`, {
    method: 'POST',
    headers: { ...headers, 'content-encoding': 'gzip' },
    body: body,
  })
  expect(response.status).toBe(415)
})

test('half a million nested brackets from a sender with a good signature are recorded at once', async () => {
  for (const nest of ['[', '{"a":']) {
    const body = nest.repeat(Math.floor(1_000_000 / nest.length / 2))
    const delivery = await source.sign({ body, now: Date.now() })
    const tookMs: number[] = []
    for (let i = 0; i < 5; i++) {
      const startedAt = performance.now()
      expect((await inbox.receive('stripe', delivery)).httpStatus).toBe(200)
      tookMs.push(performance.now() - startedAt)
    }
    // JSON.parse takes seconds for this; the bound is far above what a scan that stops needs. The fastest of several
    // runs counts: the machine may be busy during one of them.
    expect(Math.min(...tookMs)).toBeLessThan(250)
  }
})

test('five million nested brackets are cut before anyone looks at them', async () => {
  const { socket, status } = rawRequest(
    'POST /webhooks/stripe HTTP/1.1\r\nhost: h\r\ncontent-length: 5000000\r\n\r\n',
  )
  socket.write('['.repeat(100_000))
  expect(await status).toBe('413')
  expect(await good()).toBe(200)
})
