/** Passing on to a local app: nothing skipped, nothing out of order, whoever was away. */

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer as createHttp, type Server } from 'node:http'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { createInbox, type Inbox, silentLog } from 'hookonce'
import { github, sendgrid, stripe } from 'hookonce/providers'
import { createServer, type HookonceServer } from 'hookonce/server'
import { sqlite } from 'hookonce/sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { frames } from '#dist/cli/log/api.js'
import { wholeInbox } from '#dist/inbox/internals.js'
import { type Folder, freshFolder } from '../support/cli.js'
import { freePort } from '../support/free-port.js'

const secret = 'a secret that is long enough'
const localSecret = 'what the local app knows of it'
const signing = { HOOKONCE_LISTEN_SECRET: localSecret }
let folder: Folder
let inbox: Inbox
let server: HookonceServer
let url: string

beforeAll(async () => {
  folder = freshFolder()
  inbox = createInbox({
    store: sqlite(`${folder.path}/events.db`),
    sources: {
      stripe: stripe({ secret }),
      github: github({ secret }),
      mail: sendgrid(sendgrid.example() as never),
    },
    log: silentLog,
  })
  // The token of hookonce dev, where every command of the folder finds it.
  mkdirSync(`${folder.path}/.hookonce`)
  writeFileSync(`${folder.path}/.hookonce/token`, 'hko_of_this_folder\n')
  const sha256 = createHash('sha256').update('hko_of_this_folder').digest('hex')
  server = createServer(inbox, { port: 0, admin: { tokens: [{ name: 'dev', role: 'admin', sha256 }] } })
  url = (await server.listen()).url
  await inbox.start()
})
afterAll(async () => {
  await folder.remove()
  await server.close()
})

async function record(source: string, id: string): Promise<void> {
  const from = wholeInbox(inbox).sources.get(source)!
  const receipt = await inbox.receive(source, await from.sign(from.sample({ id, now: Date.now() })))
  expect(receipt.httpStatus).toBeLessThan(300)
}

/** An app on this machine: what it got, in order, and whether it could believe it. */
interface App {
  readonly port: number
  readonly got: { readonly path: string; readonly id: string; readonly believed: boolean }[]
  stop(): Promise<void>
  start(): Promise<void>
  status: number
}

async function startApp(): Promise<App> {
  const got: App['got'] = []
  const local = stripe({ secret: localSecret })
  let node: Server
  // It is started on it a second time, so nobody else may get it meanwhile.
  const port = await freePort()
  const app: App = {
    got,
    status: 200,
    port,
    async start() {
      node = createHttp(async (request, response) => {
        const body = await buffer(request)
        const headers = request.headers as Record<string, string>
        const delivery = { method: 'POST', url: request.url!, headers, body }
        const { ok } = await local.verify(delivery, { now: Date.now() })
        got.push({ path: request.url!, id: local.identify(delivery)[0]?.id ?? '?', believed: ok })
        response.writeHead(app.status).end()
      }).listen(port, '127.0.0.1')
      await once(node, 'listening')
    },
    async stop() {
      node.closeAllConnections()
      await promisify(node.close.bind(node))()
    },
  }
  await app.start()
  return app
}

const ways: readonly (readonly [string, () => string[]])[] = [
  ['on the store', () => ['--store', `sqlite:${folder.path}/events.db`]],
  ['through a server', () => ['--server', url]],
]

describe.each(ways)('%s', (way, where) => {
  const name = (n: number) => `evt_${way.replaceAll(' ', '_')}_${n}`

  test('an app or a listener that was away gets what came meanwhile, once and in order', async () => {
    const app = await startApp()
    const args = ['listen', String(app.port), '--source', 'stripe', ...where()]
    const first = folder.start(args, signing)
    await first.says(/listening to/)
    await record('stripe', name(1))
    await first.says(new RegExp(`${name(1)} +200`))

    // The app is away: the listener waits at its place.
    await app.stop()
    await record('stripe', name(2))
    await record('github', `gh_${way}`)
    await record('stripe', name(3))
    // It may still hold a connection to the app that is just being closed.
    await first.says(/is down \((nothing listens there|the connection was reset)\): waiting for it/)
    await app.start()
    await first.says(new RegExp(`${name(3)} +200`))

    // The listener is away, by kill -9.
    first.signal('SIGKILL')
    await first.ended()
    await record('stripe', name(4))
    await record('stripe', name(5))
    const second = folder.start(args, signing)
    await second.says(/continuing where it stopped/)
    await second.says(new RegExp(`${name(5)} +200`))
    second.signal('SIGTERM')
    expect((await second.ended()).code).toBe(0)

    const expected = [1, 2, 3, 4, 5].map((n) => ({ path: '/webhooks/stripe', id: name(n), believed: true }))
    expect(app.got).toEqual(expected)
    await app.stop()
  })
})

test('a path of its own, a filter and a start in the past; an app that refuses is not waited for', async () => {
  const app = await startApp()
  app.status = 400
  const filter = [
    '--type',
    'invoice.*',
    '--since',
    '1h',
    '--json',
    '--store',
    `sqlite:${folder.path}/events.db`,
  ]
  const listener = folder.start(['listen', `http://127.0.0.1:${app.port}/hooks`, ...filter], signing)
  await listener.says(/evt_through_a_server_5.*\n/)
  listener.signal('SIGINT')
  const { stdout, code } = await listener.ended()
  expect(code).toBe(0)
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines).toHaveLength(10)
  expect(lines[0]).toEqual({
    kind: 'event',
    at: expect.any(String),
    seq: expect.any(Number),
    source: 'stripe',
    type: 'invoice.paid',
    id: 'evt_on_the_store_1',
    verdict: 'answered',
    httpStatus: 400,
    ms: expect.any(Number),
  })
  expect(new Set(app.got.map(({ path }) => path))).toEqual(new Set(['/hooks']))
  await app.stop()
})

test('several events of one delivery are passed on as that one delivery', async () => {
  const app = await startApp()
  const listener = folder.start(['listen', String(app.port), '--source', 'mail', '--server', url])
  await listener.says(/listening to/)
  const from = wholeInbox(inbox).sources.get('mail')!
  const event = (id: string) => ({
    sg_event_id: id,
    sg_message_id: 'm1',
    event: 'delivered',
    email: 'a@example.com',
    timestamp: 1,
  })
  const body = JSON.stringify([event('one'), event('two')])
  const receipt = await inbox.receive('mail', await from.sign({ body, now: Date.now() }))
  expect(receipt.events).toHaveLength(2)
  await record('mail', 'three')
  await listener.says(/three +200/)
  expect(app.got).toHaveLength(2)
  listener.signal('SIGTERM')
  await listener.ended()
  await app.stop()
})

test('a damaged cursor and a target that is none are said so', async () => {
  const where = ['--store', `sqlite:${folder.path}/events.db`]
  expect(await folder.call(['listen', 'my-app', ...where])).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('must be a port such as 3000 or a URL'),
  })
  const kept = readdirSync(join(folder.path, '.hookonce')).filter((file) => file.startsWith('listen-'))
  for (const file of kept) {
    const path = join(folder.path, '.hookonce', file)
    const { target, source } = JSON.parse(readFileSync(path, 'utf8'))
    if (source !== 'mail') continue
    writeFileSync(path, '{"posi')
    const port = new URL(target.replace('<source>', 'x')).port
    expect(await folder.run(['listen', port, '--source', 'mail', '--server', url])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is damaged. Delete it to start'),
    })
    return
  }
  throw new Error('there was no cursor to damage')
})

test('a stream of a server ends with the signal, also when the connection stays open', async () => {
  const stop = new AbortController()
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(Buffer.from('event: recorded\ndata: 1\n\n')),
  })
  const seen: string[] = []
  for await (const { data } of frames(body, stop.signal)) {
    seen.push(data)
    setImmediate(() => stop.abort())
  }
  expect(seen).toEqual(['1'])
})
