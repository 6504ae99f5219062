/** Who may use the admin API of `hookonce dev`: callers with its token, and nobody by the address they come from. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, request as httpRequest, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { binary, type Folder, freshFolder, type Running } from '../support/cli.js'

let folder: Folder
let server: Running
let link: URL
let tunnel: Server
let outside: string

beforeAll(async () => {
  folder = freshFolder()
  server = folder.start(['dev', '--port', '0'])
  const [, text] = await server.says(/dashboard +(http:\S+)/)
  link = new URL(text!)
  const sent = await folder.call(['send', 'stripe', '--id', 'evt_1', '--to', link.origin])
  expect(sent.code, sent.stderr).toBe(0)
  tunnel = await startTunnel(link)
  outside = `http://127.0.0.1:${(tunnel.address() as AddressInfo).port}`
})
afterAll(async () => {
  tunnel.close()
  await folder.remove()
})

/** As nginx without `proxy_set_header`: it names the server behind it as Host, and adds nothing. */
async function startTunnel({ hostname, port, host }: URL): Promise<Server> {
  const proxy = createServer((request, response) => {
    const { method, url: path } = request
    const headers = { ...request.headers, host }
    const onward = httpRequest({ hostname, port, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    })
    request.pipe(onward)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  return proxy
}

test('a stranger behind a tunnel reads nothing, changes nothing and counts nothing', async () => {
  const status = async (path: string, init = {}) => (await fetch(`${outside}${path}`, init)).status
  for (const path of [
    '/api/events',
    '/api/events/stripe/evt_1',
    '/api/events/stripe/evt_1/payload',
    '/api/stats',
    '/api/stream',
    '/metrics',
  ])
    expect([path, await status(path)]).toEqual([path, 401])
  expect(await status('/api/events/stripe/evt_1/replay', { method: 'POST', body: '{"force":true}' })).toBe(
    401,
  )
  expect(await status('/healthz')).toBe(200)
})

test('a delivery comes through the tunnel without a token', async () => {
  const sent = await folder.call(['send', 'stripe', '--id', 'evt_2', '--to', outside])
  expect(sent.stdout).toContain('1 recorded')
})

test('the token of the link reads the log and the metrics', async () => {
  const token = link.hash.slice('#token='.length)
  for (const path of ['/api/events', '/metrics']) {
    const response = await fetch(`${link.origin}${path}`, { headers: { authorization: `Bearer ${token}` } })
    expect([path, response.status]).toEqual([path, 200])
    expect(await response.text()).toMatch(/evt_1|hookonce_/)
  }
})

test('a command in the same folder finds the token, which only its owner can read', async () => {
  const listed = await folder.call(['events', 'list', '--server', link.origin])
  expect(listed.stdout).toContain('evt_1')
  expect(statSync(join(folder.path, '.hookonce', 'token')).mode & 0o777).toBe(0o600)
})

test('a command in another folder is told what to do', async () => {
  const other = freshFolder()
  const listed = await other.call(['events', 'list', '--server', link.origin])
  expect(listed).toMatchObject({ code: 1, stderr: expect.stringContaining('run this command in its folder') })
  await other.remove()
})

test('the link stays valid when dev starts again', async () => {
  const again = folder.start(['dev', '--port', '0'])
  const [, text] = await again.says(/dashboard +(http:\S+)/)
  expect(new URL(text!).hash).toBe(link.hash)
  again.signal('SIGTERM')
  expect((await again.ended()).code).toBe(0)
})

const isTerminal = existsSync('/usr/bin/script') && process.platform === 'linux'

test.skipIf(!isTerminal)(
  'on a desktop the first start opens the dashboard, without the token on a command line',
  async () => {
    const own = freshFolder()
    const opened = join(own.path, 'opened')
    writeFileSync(join(own.path, 'xdg-open'), `#!/bin/sh\necho "$@" > ${opened}\n`, { mode: 0o755 })
    const { CI: _, SSH_CONNECTION: __, ...rest } = process.env
    const env = { ...rest, PATH: `${own.path}:${process.env.PATH}`, DISPLAY: ':9' }
    const command = `${process.execPath} ${binary} dev --port 0`
    const terminal = spawn('/usr/bin/script', ['-qec', command, '/dev/null'], { cwd: own.path, env })
    try {
      await expect
        .poll(() => existsSync(opened) && readFileSync(opened, 'utf8'), { timeout: 60_000 })
        .toBe(`${join(own.path, '.hookonce', 'dashboard.html')}\n`)
      const page = join(own.path, '.hookonce', 'dashboard.html')
      expect(readFileSync(page, 'utf8')).toContain('#token=hko_')
      expect(statSync(page).mode & 0o777).toBe(0o600)
    } finally {
      terminal.kill()
      await once(terminal, 'close')
      await own.remove()
    }
  },
)
