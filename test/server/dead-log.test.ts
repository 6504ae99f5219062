/** The log of a server: a stranger cannot fill it, and a log that cannot be written does not end the server. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInbox, type LogFields, type Logger } from 'hookonce'
import { stripe } from 'hookonce/providers'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { wholeInbox } from '#dist/inbox/internals.js'
import { repeatedLines } from '#dist/log.js'
import { binary } from '../support/cli.js'
import { send, signed } from '../support/serving.js'

const secret = 'whsec_of-the-dead-log-tests'
const source = stripe({ secret })
let folder: string
let children: ChildProcess[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hookonce-dead-log-'))
  children = []
})
afterEach(async () => {
  for (const child of children) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    child.kill('SIGKILL')
    await once(child, 'close')
  }
  await rm(folder, { recursive: true, force: true })
})

/** A program that serves, with its URL as the first line on standard output. */
const program = `
import { createInbox } from 'hookonce'
import { stripe } from 'hookonce/providers'
import { createServer, runUntilSignal } from 'hookonce/server'
const inbox = createInbox({ store: 'sqlite::memory:', sources: { stripe: stripe({ secret: '${secret}' }) } })
const server = createServer(inbox, { port: 0, admin: false, lameDuck: 0 })
const { url } = await server.listen()
console.log('serves ' + url)
process.exit(await runUntilSignal({ server }))
`

const config = `
import { stripe } from 'hookonce/providers'
export default {
  store: 'sqlite::memory:',
  sources: { stripe: stripe({ secret: process.env.STRIPE_SECRET }) },
  server: { port: 0, admin: false, lameDuck: 0 },
}
`

const starts = {
  'a program of its own': (stderr: 'pipe' | number) =>
    spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', stderr] }),
  'hookonce serve': (stderr: 'pipe' | number) => {
    writeFileSync(join(folder, 'hookonce.config.mjs'), config)
    return spawn(process.execPath, [binary, 'serve', '--json'], {
      cwd: folder,
      env: { ...process.env, STRIPE_SECRET: secret },
      stdio: ['ignore', 'pipe', stderr],
    })
  },
  'hookonce dev': (stderr: 'pipe' | number) =>
    spawn(process.execPath, [binary, 'dev', '--json', '--port', '0'], {
      cwd: folder,
      env: { ...process.env, HOOKONCE_DEV_SECRET: secret },
      stdio: ['ignore', 'pipe', stderr],
    }),
}

async function startWith(start: (stderr: 'pipe' | number) => ChildProcess, stderr: 'pipe' | number) {
  const child = start(stderr)
  children.push(child)
  const url = await new Promise<string>((resolve, reject) => {
    let text = ''
    child.stdout!.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(text)
      if (found) resolve(found[0])
    })
    child.once('close', (code) => reject(new Error(`it ended with ${code}: ${text}`)))
  })
  return { child, url }
}

/** Rejections of several kinds, each with a line of the log; between them deliveries that must be taken. */
async function keepsTaking(child: ChildProcess, url: string): Promise<void> {
  for (let round = 0; round < 5; round++) {
    const forged = await signed(stripe({ secret: 'whsec_another-secret-than-ours' }))
    expect((await send(url, 'stripe', forged)).status).toBe(401)
    expect((await send(url, `nobody-${round}`, forged)).status).toBe(404)
    expect((await send(url, 'stripe', { headers: {}, body: Buffer.from('{') })).status).toBe(401)
    const taken = await send(url, 'stripe', await signed(source, `evt_${round}`))
    expect(await taken.json()).toMatchObject({ status: 'accepted', event_id: `evt_${round}` })
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  expect([child.exitCode, child.signalCode]).toEqual([null, null])
}

async function endsWell(child: ChildProcess): Promise<void> {
  const closed = once(child, 'exit')
  child.kill('SIGTERM')
  expect(await closed).toEqual([0, null])
}

describe.each(Object.entries(starts))('%s', (_, start) => {
  test('goes on when the readers of both its streams are gone, and ends with code 0 when told to', async () => {
    const { child, url } = await startWith(start, 'pipe')
    child.stderr!.destroy()
    child.stdout!.destroy()
    await keepsTaking(child, url)
    await endsWell(child)
  })

  test('goes on when the disk of its log is full', async () => {
    const full = openSync('/dev/full', 'w')
    const { child, url } = await startWith(start, full)
    closeSync(full)
    await keepsTaking(child, url)
    await endsWell(child)
  })
})

test('a command whose result cannot be written to a full disk fails', async () => {
  const full = openSync('/dev/full', 'w')
  const child = spawn(process.execPath, [binary, 'providers', '--json'], {
    cwd: folder,
    stdio: ['ignore', full, 'pipe'],
  })
  children.push(child)
  closeSync(full)
  expect(await once(child, 'close')).toEqual([1, null])
})

interface Line {
  readonly fields: LogFields
  readonly message: string
}

function collected(): { lines: Line[]; log: Logger } {
  const lines: Line[] = []
  const keep = (fields: LogFields, message: string) => void lines.push({ fields, message })
  return { lines, log: { debug: keep, info: keep, warn: keep, error: keep } }
}

test('rejections are written once at first, then counted by source and reason', async () => {
  const { lines, log } = collected()
  const inbox = createInbox({ store: 'sqlite::memory:', sources: { stripe: source }, log })
  const forged = await signed(stripe({ secret: 'whsec_another-secret-than-ours' }))
  await inbox.receive('stripe', forged)
  expect(lines.map(({ fields }) => fields)).toEqual([
    { source: 'stripe', step: 'verify', reason: 'bad_signature', httpStatus: 401 },
  ])
  for (let i = 1; i < 1_000; i++) await inbox.receive('stripe', forged)
  for (let i = 0; i < 500; i++) await inbox.receive(`nobody-${i}`, forged)
  for (let i = 0; i < 500; i++) wholeInbox(inbox).refused(null, 'timeout')
  await inbox.stop()
  // A slow machine may have written a count in between.
  expect(lines.length).toBeLessThan(30)
  const counted = (reason: string) =>
    lines
      .filter(({ fields }) => fields.reason === reason)
      .reduce((sum, { fields }) => sum + Number(fields.repeated ?? 1), 0)
  expect(counted('bad_signature')).toBe(1_000)
  expect(counted('unknown_source')).toBe(500)
  expect(counted('timeout')).toBe(500)
})

test('more kinds of lines than are told apart are counted together', () => {
  const { lines, log } = collected()
  const repeats = repeatedLines(log, { maxKinds: 3, everyMs: 60_000 })
  for (let i = 0; i < 100; i++) repeats.warn({ reason: `r${i}` }, 'rejected')
  expect(lines).toHaveLength(3)
  repeats.flush()
  expect(lines.slice(3)).toEqual([
    { fields: { repeated: 97 }, message: expect.stringContaining('other kinds') },
  ])
  repeats.flush()
  repeats.warn({ reason: 'r0' }, 'rejected')
  expect(lines).toHaveLength(5)
})
