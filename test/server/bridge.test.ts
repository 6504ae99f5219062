/** From node:http to the web standard and back: slow readers are felt, and what breaks off is let go. */
import { createServer, request as httpRequest, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { createBodyBudget } from '#dist/intake/body-budget.js'
import { type BridgedFetch, bridge } from '#dist/server/bridge.js'
import { until } from '../support/processing.js'

let server: Server
afterEach(() => new Promise((resolve) => server.close(resolve).closeAllConnections()))

async function serve(fetch: BridgedFetch): Promise<number> {
  const answer = bridge(fetch, { bodyBytes: () => 1_000, bodies: createBodyBudget(100_000) })
  server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

test('a reader that stops reading stops the source; when the source gives up, the connection ends', async () => {
  let pulled = 0
  let give: ReadableStreamDefaultController<Uint8Array> | undefined
  const port = await serve(async () => {
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          give = controller
        },
        pull(controller) {
          pulled += 65_536
          controller.enqueue(new Uint8Array(65_536))
        },
      },
      { highWaterMark: 0 },
    )
    return new Response(body)
  })
  const socket = connect(port, '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n')
  socket.once('data', () => socket.pause())
  // What the kernel takes for a reader is some megabytes; then nothing more is asked of the source.
  let before = -1
  await until(async () => {
    const same = pulled === before && pulled > 0
    before = pulled
    await new Promise((resolve) => setTimeout(resolve, 50))
    return same && pulled === before
  }, 'it stands still')
  expect(pulled).toBeLessThan(64 * 1024 * 1024)
  const closed = new Promise((resolve) => socket.once('close', resolve))
  give!.error(new Error('cut'))
  socket.on('error', () => {})
  socket.resume()
  await closed
})

test('a reader that goes away is noticed by the source and by the request', async () => {
  let cancelled = false
  let aborted = false
  const port = await serve(async (request) => {
    request.signal.addEventListener('abort', () => {
      aborted = true
    })
    return new Response(
      new ReadableStream({
        start: (controller) => controller.enqueue(Buffer.from('hello')),
        cancel() {
          cancelled = true
        },
      }),
    )
  })
  const request = httpRequest({ port, host: '127.0.0.1' }, (response) =>
    response.once('data', () => request.destroy()),
  )
  request.on('error', () => {}).end()
  await until(() => cancelled && aborted, 'it was told')
})

test('a body is given whole, and one that is too large is not waited for', async () => {
  const port = await serve(async (request) =>
    Response.json({ text: await request.text(), method: request.method }),
  )
  const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: 'ä'.repeat(500) })
  expect(await answer.json()).toEqual({ text: 'ä'.repeat(500), method: 'POST' })
  const large = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: 'a'.repeat(1_001) })
  expect(large.status).toBe(413)
})

test('what the web standard does not know is a bad request, not a crash', async () => {
  const port = await serve(async (request) => new Response(new URL(request.url).pathname))
  const ask = (head: string) =>
    new Promise<string>((resolve) => {
      const socket = connect(port, '127.0.0.1')
      socket.end(`${head}\r\nhost: localhost\r\nconnection: close\r\n\r\n`)
      let text = ''
      socket.on('data', (chunk) => {
        text += chunk.toString()
      })
      socket.on('close', () => resolve(text))
      socket.on('error', () => resolve(text))
    })
  expect(await ask('TRACE / HTTP/1.1')).toContain(' 400 ')
  expect(await ask('GET http:// HTTP/1.1')).toContain(' 400 ')
  expect(await ask('GET //evil.example/x HTTP/1.1')).toContain('//evil.example/x')
  expect(await ask('GET /ok HTTP/1.1')).toContain('/ok')
})
