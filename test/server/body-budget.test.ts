/** Many bodies at once: together they take a bounded amount of memory, and all of it is given back. */

import type { Socket } from 'node:net'
import type { Inbox } from 'hookonce'
import { fetchHandler } from 'hookonce/fetch'
import { unverified } from 'hookonce/providers'
import { afterEach, describe, expect, test } from 'vitest'
import { wholeInbox } from '#dist/inbox/internals.js'
import { collectBytes } from '#dist/intake/body-budget.js'
import { loggedInbox } from '../support/inboxes.js'
import { until } from '../support/processing.js'
import { heard, say, serving, tokenOf } from '../support/serving.js'

const KIB = 1024
const inboxes: Inbox[] = []
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  for (const inbox of inboxes.splice(0)) await inbox.stop()
})

function shop(allBodiesBytes: number): Inbox {
  const { inbox } = loggedInbox({
    store: 'sqlite::memory:',
    limits: { allBodiesBytes, bodyBytes: 256 * KIB, bodyTimeout: 60_000 },
    sources: { shop: unverified({ id: 'json:id', type: 'json:type' }) },
  })
  inboxes.push(inbox)
  return inbox
}

const post = (url: string, id: string) =>
  fetch(`${url}/webhooks/shop`, { method: 'POST', body: JSON.stringify({ id, type: 'x' }) })

/** A sender that announces a body, sends most of it, and then waits. */
function stalled(port: number, path = '/webhooks/shop', size = 200 * KIB, token = 'none'): Socket {
  const socket = say(
    port,
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\n` +
      `content-length: ${size + 1}\r\n\r\n${'x'.repeat(size)}`,
  )
  sockets.push(socket)
  return socket
}

describe('bodies that are being read', () => {
  test('take no more than the bound together; more are answered 503 with Retry-After, and come back', async () => {
    const most = 1_024 * KIB
    const inbox = shop(most)
    const { port } = await serving(inbox)
    const answers = Array.from({ length: 60 }, () => heard(stalled(port)))
    const refused = await Promise.race(answers)
    expect(refused).toMatch(/^HTTP\/1\.1 503 /)
    expect(refused.toLowerCase()).toContain('retry-after:')
    expect(refused).toContain('{"status":"unavailable"}')
    await until(
      () => (wholeInbox(inbox).counters.of('shop').rejected.overloaded ?? 0) >= 55,
      'those beyond the bound are refused',
    )
    expect(wholeInbox(inbox).bodies.usedBytes).toBeLessThanOrEqual(most)
    expect(wholeInbox(inbox).bodies.usedBytes).toBeGreaterThan(0)
    // Those who leave give back what they held.
    for (const socket of sockets) socket.destroy()
    await until(() => wholeInbox(inbox).bodies.usedBytes === 0, 'the memory is given back')
  })

  test('give way when they are slow: a prompt delivery is taken', async () => {
    const inbox = shop(512 * KIB)
    const { url, port } = await serving(inbox)
    for (let i = 0; i < 10; i++) stalled(port)
    await until(() => wholeInbox(inbox).bodies.usedBytes > 300 * KIB, 'the bound is nearly reached')
    await until(async () => {
      const body = JSON.stringify({ id: 'prompt', type: 'x', fill: 'x'.repeat(200 * KIB) })
      const { status } = await fetch(`${url}/webhooks/shop`, { method: 'POST', body })
      return status === 200
    }, 'a prompt delivery is taken')
    expect((await post(url, 'small')).status).toBe(200)
    expect(wholeInbox(inbox).bodies.usedBytes).toBeLessThanOrEqual(512 * KIB)
  })

  test('are counted until they are answered, and given back whatever the answer is', async () => {
    const inbox = shop(512 * KIB)
    const { url, port } = await serving(inbox, { admin: { tokens: [tokenOf('a-token-0123456789')] } })
    expect((await post(url, 'e1')).status).toBe(200)
    const large = await fetch(`${url}/webhooks/shop`, { method: 'POST', body: 'x'.repeat(300 * KIB) })
    expect(large.status).toBe(413)
    expect((await fetch(`${url}/webhooks/shop`, { method: 'POST', body: 'no json' })).status).toBe(400)
    expect((await fetch(`${url}/api/sessions`, { method: 'POST', body: '{}' })).status).toBe(415)
    expect(wholeInbox(inbox).bodies.usedBytes).toBe(0)
    const settling = stalled(port, '/api/work/settle', 100 * KIB, 'a-token-0123456789')
    await until(() => wholeInbox(inbox).bodies.usedBytes === 100 * KIB, 'bodies of the admin API count too')
    settling.destroy()
    await until(() => wholeInbox(inbox).bodies.usedBytes === 0, 'the memory is given back')
  })

  test('of one byte a piece are kept whole, and do not take a hundred times their size', () => {
    const bytes = Buffer.alloc(1_000_000, 'abcdefghijklmnopqrstuvwxyz0')
    const pieces = collectBytes()
    const before = process.memoryUsage().heapUsed
    for (let i = 0; i < bytes.length; i++) pieces.add(bytes.subarray(i, i + 1))
    // Kept as they came, a million pieces are 90 MB and more.
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(60_000_000)
    expect(bytes.equals(pieces.whole())).toBe(true)
    const mixed = collectBytes()
    const sizes = [1, 5_000, 4_096, 4_097, 0, 16_384, 3, 4_000, 4_000, 4_000, 4_000, 4_000]
    for (let at = 0, i = 0; at < bytes.length; at += sizes[i++ % sizes.length]!)
      mixed.add(bytes.subarray(at, at + sizes[i % sizes.length]!))
    expect(bytes.equals(mixed.whole())).toBe(true)
  })

  test('are bounded in the fetch adapters as well', async () => {
    const inbox = shop(512 * KIB)
    const handle = fetchHandler(inbox)
    const abort: (() => void)[] = []
    const sent = Array.from({ length: 8 }, () => {
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          controller.enqueue(new Uint8Array(200 * KIB))
          abort.push(() => controller.error(new Error('gone')))
        },
      })
      return handle(
        new Request('http://localhost/webhooks/shop', {
          method: 'POST',
          body,
          duplex: 'half',
        } as RequestInit),
      )
    })
    const refused = await Promise.race(sent)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
    await until(() => wholeInbox(inbox).counters.of('shop').rejected.overloaded === 6, 'six are refused')
    expect(wholeInbox(inbox).bodies.usedBytes).toBe(400 * KIB)
    for (const leave of abort) leave()
    await Promise.all(sent)
    expect(wholeInbox(inbox).bodies.usedBytes).toBe(0)
  })
})
