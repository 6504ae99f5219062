import { writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { stripe } from 'hookonce/providers'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Folder, freshFolder } from '../support/cli.js'

const secret = 'whsec_a-secret-of-the-shop'
let folder: Folder
let server: Server
let verdicts: boolean[]

beforeEach(async () => {
  folder = freshFolder()
  verdicts = []
  const source = stripe({ secret })
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const headers = request.headers as Record<string, string>
    const delivery = { method: 'POST', url: 'http://x/', headers, body: Buffer.concat(chunks) }
    // It also asks whether there is a dashboard.
    if (request.method === 'POST') verdicts.push((await source.verify(delivery, { now: Date.now() })).ok)
    response.end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterEach(async () => {
  await folder.remove()
  await new Promise((resolve) => server.close(resolve).closeAllConnections())
})

test('send signs with a secret from a file or from the environment', async () => {
  const to = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`
  writeFileSync(join(folder.path, 'secret.txt'), `${secret}\n`)
  const send = (args: string[], env = {}) => folder.call(['send', 'stripe', '--to', to, ...args], env)
  await send(['--secret-file', 'secret.txt'])
  await send([], { HOOKONCE_SEND_SECRET: secret })
  await send(['--secret-file', 'secret.txt'], { HOOKONCE_SEND_SECRET: 'whsec_another-secret-entirely' })
  expect(verdicts).toEqual([true, true, true])
})

test('a secret that cannot be read or is empty is a wrong call, and no option takes the secret itself', async () => {
  writeFileSync(join(folder.path, 'empty.txt'), '\n')
  for (const args of [
    ['--secret-file', 'none.txt'],
    ['--secret-file', 'empty.txt'],
    ['--secret', secret],
  ]) {
    const { code, stdout, stderr } = await folder.call(['send', 'stripe', ...args])
    expect([args[0], code]).toEqual([args[0], 2])
    expect(stdout + stderr).toContain('--secret')
    expect(stdout + stderr).not.toContain(secret)
  }
})

test('every command that takes a secret takes it from a file', async () => {
  for (const command of ['send', 'dev', 'listen', 'check']) {
    const { stdout } = await folder.call([command, '--help'])
    expect(stdout).toMatch(/--secret-file <file>/)
    expect(stdout).toMatch(new RegExp(`HOOKONCE_${command.toUpperCase()}_SECRET`))
  }
})
