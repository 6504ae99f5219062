import { once } from 'node:events'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInbox } from 'hookonce'
import { nodeHandler } from 'hookonce/node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createPoster } from '#dist/cli/post.js'
import { devSource, factories, factoryOf } from '#dist/cli/sources.js'
import { type Folder, freshFolder, type Running } from '../support/cli.js'

let folder: Folder
let server: Running
let origin: string

beforeAll(async () => {
  folder = freshFolder()
  server = folder.start(['dev', '--port', '0', '--json'])
  origin = new URL((await server.says(/"intake":"([^<"]+)/))[1]!).origin
})
afterAll(() => folder.remove())

const send = async (...args: string[]) => {
  const ended = await folder.call(['send', ...args, '--to', origin, '--json'])
  return { ...ended, report: ended.stdout === '' ? null : JSON.parse(ended.stdout) }
}

test('what the folder keeps can be read by its owner only, and git does not see it', () => {
  for (const name of ['secret', 'keys.json', '.gitignore'])
    expect(statSync(join(folder.path, '.hookonce', name)).mode & 0o777).toBe(0o600)
  expect(readFileSync(join(folder.path, '.hookonce', '.gitignore'), 'utf8')).toBe('*\n')
})

function existing(): { secret: string; keys: never } {
  const kept = (name: string) => readFileSync(join(folder.path, '.hookonce', name), 'utf8')
  return { secret: kept('secret').trim(), keys: JSON.parse(kept('keys.json')) as never }
}

test('every provider of the catalogue can be sent to a server with no configuration', async () => {
  const { secret, keys } = existing()
  const poster = createPoster(4)
  const answers: Record<string, number> = {}
  for (const factory of factories()) {
    const source = devSource(factory, { secret, keys })
    const sample = source.sample({ now: Date.now() })
    const { search } = new URL(sample.url ?? origin)
    const delivery = await source.sign({ ...sample, url: `${origin}/webhooks/${factory.key}${search}` })
    answers[factory.key] = (await poster.post(delivery)).httpStatus
  }
  poster.close()
  const refused = Object.entries(answers).filter(([, httpStatus]) => httpStatus >= 300)
  expect(refused).toEqual([])
})

test('a secret of one own fits every provider too', () => {
  const keys = JSON.parse(readFileSync(join(folder.path, '.hookonce', 'keys.json'), 'utf8'))
  for (const factory of factories()) devSource(factory, { secret: 'not hex, not base64!', keys })
})

test('five deliveries at once are one event', async () => {
  const { code, report, stderr } = await send('stripe', 'invoice.paid', '--times', '5', '--concurrency', '5')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(report).toMatchObject({
    type: 'invoice.paid',
    deliveries: 5,
    recorded: 1,
    duplicates: 4,
    httpStatuses: { 200: 5 },
  })
  expect(report.link).toBe(`${origin}/events/stripe/${report.eventId}`)
})

describe.concurrent('the body', () => {
  test('is one of the type that was asked for', async () => {
    const { report } = await send('stripe', 'customer.updated')
    expect(report).toMatchObject({ type: 'customer.updated', recorded: 1 })
    const { stdout } = await folder.call(['events', 'show', report.eventId, '--raw'])
    expect(JSON.parse(stdout).data.object).toMatchObject({ object: 'customer' })
    expect((await send('github', 'issues.closed')).report).toMatchObject({ type: 'issues.closed' })
    expect((await send('stripe', 'not.known')).stderr).toContain('the body of "invoice.paid" under that type')
    const refused = await send('telegram', 'not_known')
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toContain(
      'There is no sample of Telegram Bot API for "not_known". Samples: message',
    )
  })

  test('--count sends different events, each as often as --times says', async () => {
    const { report } = await send('stripe', '--count', '3', '--times', '2', '--concurrency', '4')
    expect(report).toMatchObject({ sent: 3, deliveries: 6, recorded: 3, duplicates: 3 })
    expect(await send('stripe', '--count', '2', '--id', 'evt_x')).toMatchObject({ code: 2, stdout: '' })
  })

  test('--id and --set change it, and it is signed as changed', async () => {
    await send('stripe', '--id', 'evt_mine', '--set', 'data.object.id=in_9', '--set', 'livemode=true')
    await server.says(/"eventId":"evt_mine","verdict":"recorded"/)
  })

  test('--body sends a file as it is', async () => {
    writeFileSync(join(folder.path, 'body.json'), '{"id":"evt_file",  "type":"from.file"}')
    const { report } = await send('stripe', '--body', 'body.json')
    expect(report).toMatchObject({ eventId: 'evt_file', type: 'from.file', recorded: 1 })
  })

  test.each([
    [['--set', 'nothing'], 'must be written as path=value'],
    [['--body', 'missing.json'], 'cannot be read'],
    [['--tamper', '--stale'], 'cannot be used together'],
  ])('%j is a usage error', async (args, words) => {
    const { code, stderr } = await send('stripe', ...args)
    expect(code).toBe(2)
    expect(stderr).toContain(words)
  })
})

describe.concurrent('what should be refused', () => {
  test('--tamper and --stale are, and that is success', async () => {
    expect(await send('github', '--tamper')).toMatchObject({ code: 0, report: { httpStatuses: { 401: 1 } } })
    expect(await send('stripe', '--stale')).toMatchObject({ code: 0, report: { httpStatuses: { 401: 1 } } })
  })

  test('--tamper changes a value where the signature covers values', async () => {
    expect(await send('twilio', '--tamper')).toMatchObject({ code: 0, report: { httpStatuses: { 401: 1 } } })
  })

  test('a sender that does not sign what is asked for is said so', async () => {
    expect(await send('gitlab', '--tamper')).toMatchObject({ code: 2, stdout: '' })
    expect(await send('github', '--stale')).toMatchObject({ code: 2, stdout: '' })
  })

  test('--conflict sends the same id with other bytes', async () => {
    const { report, code } = await send('stripe', '--conflict')
    expect({ code, report }).toMatchObject({ code: 0, report: { deliveries: 2, recorded: 1, duplicates: 1 } })
    await server.says(/known id with other bytes/)
  })
})

test('an application without a dashboard gets no address of one', async () => {
  const source = devSource(factoryOf('stripe'), existing())
  await using inbox = createInbox({ store: 'sqlite::memory:', sources: { stripe: source } })
  const app = createServer(nodeHandler(inbox)).listen(0, '127.0.0.1')
  await once(app, 'listening')
  const { port } = app.address() as AddressInfo
  const { stdout } = await folder.call(['send', 'stripe', '--to', `http://127.0.0.1:${port}`, '--json'])
  expect(JSON.parse(stdout)).toMatchObject({ recorded: 1, link: null })
  app.close()
})

describe.concurrent('it says what to do when', () => {
  test('nothing listens there', async () => {
    const { code, stderr, stdout } = await folder.call(['send', 'stripe', '--to', 'http://127.0.0.1:9'])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('Start hookonce dev, or set the URL with --to.')
    expect(stderr).not.toMatch(/\n\s+at /)
  })

  test('the secret is another', async () => {
    writeFileSync(join(folder.path, 'another.txt'), 'another secret, long enough')
    const { code, report } = await send('github', '--secret-file', 'another.txt')
    expect({ code, report }).toMatchObject({ code: 1, report: { httpStatuses: { 401: 1 } } })
  })

  test('there is no secret in this folder', async () => {
    const empty = freshFolder()
    const { code, stderr } = await empty.call(['send', 'stripe'])
    expect(code).toBe(1)
    expect(stderr).toContain('Run hookonce dev in this folder first, or give --secret-file.')
    await empty.remove()
  })

  test('the provider or the URL is not one', async () => {
    expect(await send('stirpe')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Did you mean stripe?'),
    })
    expect(await folder.call(['send', 'stripe', '--to', 'shop'])).toMatchObject({ code: 2 })
  })

  test('the development secret is too short, or the port is taken', async () => {
    expect(await folder.run(['dev'], { HOOKONCE_DEV_SECRET: 'short' })).toMatchObject({ code: 2 })
    const { code, stderr } = await folder.run(['dev', '--port', new URL(origin).port])
    expect(code).toBe(1)
    expect(stderr).toContain('--port 0 for any free port')
  })
})
