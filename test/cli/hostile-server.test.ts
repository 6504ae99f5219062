/** A server that answers with text for the terminal of whoever asks it. */
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { painter, terminalText } from '#dist/cli/terminal-text.js'
import { type Folder, freshFolder } from '../support/cli.js'

/** Moves the cursor, writes to the clipboard, forges a line, reverses text. */
const EVIL = '\u001b[2J\u001b]52;c;ZXZpbA==\u0007\u009b31m\nforged line\r\u202egnp\u2066\u200b'
const control = /[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}]/u

const event = {
  ...{ source: EVIL, id: EVIL, type: EVIL, reference: EVIL, state: EVIL, reason: EVIL, seq: 1, run: 1 },
  ...{ receivedAt: EVIL, processedAt: EVIL, nextAttemptAt: EVIL, lastDeliveryAt: EVIL, sameAs: EVIL },
  origin: EVIL,
  waiting: { kind: 'paused', source: EVIL, type: EVIL, actor: EVIL, sinceAt: EVIL },
  ...{ deliveries: EVIL, conflicts: 1, payload: 'kept', dead: false },
  references: [
    { label: EVIL, value: EVIL },
    { label: EVIL, value: `other ${EVIL}` },
  ],
}
const attempt = {
  attempt: EVIL,
  startedAt: EVIL,
  finishedAt: EVIL,
  outcome: EVIL,
  worker: EVIL,
  detail: EVIL,
}
const payload = { headers: { [EVIL]: EVIL }, part: 0, body: Buffer.from(EVIL).toString('base64') }

const server = createServer(({ url = '', method }, response) => {
  const path = url.replace(/\?.*/, '')
  if (method === 'POST') return json(response, 409, { detail: EVIL, code: EVIL })
  if (path === '/api/events') return json(response, 200, { events: [event], next: EVIL, cut: false })
  if (path.endsWith('/attempts')) return json(response, 200, { attempts: [attempt] })
  if (path.endsWith('/payload')) return json(response, 200, payload)
  if (path === '/api/stream') {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(`event: recorded\ndata: ${JSON.stringify({ ...event, seq: 2 })}\n\n`)
    return
  }
  json(response, 200, event)
})

function json(response: ServerResponse, status: number, body: object): void {
  const type = status === 200 ? 'application/json' : 'application/problem+json'
  response.writeHead(status, { 'content-type': type }).end(JSON.stringify(body))
}

let folder: Folder
let where: string[]
beforeAll(async () => {
  folder = freshFolder()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  where = ['--server', `http://127.0.0.1:${(server.address() as AddressInfo).port}`]
})
afterAll(async () => {
  server.close()
  server.closeAllConnections()
  await folder.remove()
})

describe('nothing that a server says reaches the terminal as a control character', () => {
  test.each([
    ['events', 'list'],
    ['events', 'show', 'x', '--payload'],
    ['events', 'show', 'x', '--payload', '--json'],
    ['events', 'list', '--json'],
    ['replay', 'x'],
    ['replay', 'x', '--json'],
  ])('%s %s %s', async (...args) => {
    const { stdout, stderr } = await folder.call([...args.filter(Boolean), ...where])
    expect(`${stdout}${stderr}`).toContain('forged')
    expect(`${stdout}${stderr}`).not.toMatch(control)
    if (args[1] === 'list') expect(stdout).not.toMatch(/^forged/m)
  })

  test('events export is the same value, in escapes', async () => {
    const running = folder.start(['events', 'export', ...where])
    const [line] = await running.says(/^\{.*\}\n/)
    expect(line).not.toMatch(control)
    expect(JSON.parse(line)).toMatchObject({ id: EVIL })
    running.signal('SIGKILL')
  })

  test('events tail', async () => {
    const tail = folder.start(['events', 'tail', ...where])
    await tail.says(/forged line/)
    expect(`${tail.stdout}${tail.stderr}`).not.toMatch(control)
    tail.signal('SIGTERM')
    await tail.ended()
  })
})

test('colours of a value are not colours of ours', () => {
  const { FORCE_COLOR, NO_COLOR, TERM } = process.env
  Object.assign(process.env, { FORCE_COLOR: '1', TERM: 'xterm' })
  delete process.env.NO_COLOR
  const text = terminalText(painter({ isTTY: true })('red', 'a\u001b[32mb'))
  expect(text).toBe('\u001b[31ma\ufffd[32mb\u001b[39m')
  for (const [name, value] of Object.entries({ FORCE_COLOR, NO_COLOR, TERM })) {
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
})
