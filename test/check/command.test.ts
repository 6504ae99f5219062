/** `hookonce check` as a user calls it: the real binary against real endpoints. */
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInbox } from 'hookonce'
import { nodeHandler } from 'hookonce/node'
import { token } from 'hookonce/providers'
import { sqlite } from 'hookonce/sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Report } from '#dist/check/report.js'
import { type Folder, freshFolder, type Running } from '../support/cli.js'
import { type Example, exampleSecret, startExample } from '../support/examples.js'

let folder: Folder
const examples: Record<string, Example> = {}
const names = [
  'right',
  'no-dedupe',
  'check-then-insert',
  'memory-dedupe',
  'mark-before-work',
  'reserialised-signature',
]

beforeAll(async () => {
  folder = freshFolder()
  for (const name of names) examples[name] = await startExample(name)
})
afterAll(async () => {
  for (const example of Object.values(examples)) await example.stop()
  await folder.remove()
})

const quick = ['--wait', '6s']

function call(name: string, more: readonly string[]) {
  const { url, probe } = examples[name]!
  const args = ['check', url, '--provider', 'stripe', '--probe', probe, ...quick, ...more]
  return folder.run(args, { HOOKONCE_CHECK_SECRET: exampleSecret })
}

test('hookonce itself passes, also when it is killed in the middle of its work: exit code 0', async () => {
  const { crashCommand, restartCommand, fault } = examples.right!
  const { code, stdout, stderr } = await call('right', [
    ...['--restart-command', restartCommand, '--crash-command', crashCommand, '--fault', fault],
    ...['--json', '--strict'],
  ])
  const report = JSON.parse(stdout) as Report
  expect(report.trials.filter(({ result }) => result !== 'pass')).toEqual([])
  expect(report).toMatchObject({ ok: true, provider: 'stripe', type: 'invoice.paid', failed: 0, unknown: 0 })
  expect(code).toBe(0)
  expect(stderr).toMatch(/Sending at most \d+ deliveries to 127\.0\.0\.1:\d+, up to 50 at once/)
})

describe.concurrent('the fault is named on standard output, with exit code 1', () => {
  test.each([
    ['no-dedupe', 'no_dedupe', ['--only', 'again']],
    ['check-then-insert', 'race', ['--only', 'burst-10']],
    ['memory-dedupe', 'memory_dedupe', ['--only', 'restart', '--restart-command', '(restart)']],
    ['mark-before-work', 'mark_before_work', ['--only', 'failure', '--fault', '(fault)']],
    ['reserialised-signature', 'reserialised_signature', ['--only', 'spelling']],
  ])('%s: %s', async (name, fault, more) => {
    const { restartCommand, fault: faultUrl } = examples[name]!
    const filled = more.map((word) => word.replace('(restart)', restartCommand).replace('(fault)', faultUrl))
    const { code, stdout } = await call(name, filled)
    expect(stdout).toMatch(new RegExp(`^${fault}: `, 'm'))
    expect(stdout).toMatch(/^fail: 1 passed, 1 failed, 0 unknown/)
    expect(code).toBe(1)
  })
})

test('a wrong call is told what to do, sends nothing and ends with 2', async () => {
  const { url } = examples.right!
  const stripe = ['--provider', 'stripe']
  const signed = [...stripe, '--option', `secret=${exampleSecret}`]
  const wrong: [string[], string][] = [
    [['check', url], '--provider'],
    [['check', url, '--provider', 'stirpe'], 'Did you mean stripe?'],
    [['check', url, ...stripe], 'HOOKONCE_CHECK_SECRET'],
    [['check', url, ...stripe, '--option', 'secret=short'], 'bytes'],
    [['check', 'https://example.com/x', ...signed], '--i-own-this-endpoint'],
    [['check', url, ...signed, '--only', 'agian'], 'has no trial "agian"'],
    [['check', url, ...stripe, '--option', 'secret=@/nowhere'], 'cannot be read'],
    [['check', url, ...signed, '--wait', '5'], 'must be a duration'],
  ]
  const ended = await Promise.all(
    wrong.map(async ([args, words]) => ({ args, words, ...(await folder.call(args)) })),
  )
  for (const { args, words, code, stderr, stdout } of ended) {
    expect({ args, code, stdout }).toEqual({ args, code: 2, stdout: '' })
    expect(stderr).toContain(words)
    expect(stderr).not.toContain(exampleSecret)
    expect(stderr).not.toMatch(/\n {4}at /)
  }
})

test('an endpoint that is not there is a failure, not a crash', async () => {
  const args = ['check', 'http://127.0.0.1:9/', '--provider', 'stripe', '--json']
  const { code, stdout } = await folder.run(args, { HOOKONCE_CHECK_SECRET: exampleSecret })
  expect(code).toBe(1)
  expect((JSON.parse(stdout) as Report).faults.map(({ fault }) => fault)).toEqual(['unreachable'])
})

test('a sender outside the catalogue is described by options', async () => {
  const secret = 'a token of the check'
  const inbox = createInbox({
    store: sqlite(':memory:'),
    sources: { shop: token({ secret, in: 'header:x-api-key', id: 'json:event.id', type: 'json:kind' }) },
    processing: false,
  })
  const server = createServer(nodeHandler(inbox)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks/shop`
  const sender = ['--provider', 'token', '--option', 'in=header:x-api-key', '--option', 'type=json:kind']
  const args = ['check', url, ...sender, ...quick, '--json', '--only', 'forged', '--only', 'unsigned']
  try {
    const call = [...args, '--option', 'id=json:event.id', '--type', 'order.paid']
    const { stdout } = await folder.run(call, { HOOKONCE_CHECK_SECRET: secret })
    const report = JSON.parse(stdout) as Report
    expect(report).toMatchObject({ provider: 'token', failed: 0 })
    expect(report.trials.map(({ name }) => name)).toEqual(['accepts', 'unsigned', 'forged'])
    const withoutId = await folder.run(args, { HOOKONCE_CHECK_SECRET: secret })
    expect(withoutId.stderr).toContain('needs `id`')
    expect(withoutId.code).not.toBe(0)
  } finally {
    server.close()
    await inbox.stop()
  }
})

describe('a sender that signs a time, with the secret of', () => {
  const secret = 'a secret that is long enough'
  const rules = `{ secret: '${secret}', header: 'x-signature', id: 'json:id', type: 'json:type',
    prefix: 'v1=', timestamp: { in: 'header:x-time', unit: 's' } }`
  const trials = ['forged', 'stale', 'tampered', 'mangled'].flatMap((name) => ['--only', name])
  let own: Folder
  let server: Running
  beforeAll(() => {
    own = freshFolder()
  })
  afterAll(() => own.remove())

  const start = async (args: string[], ready: RegExp) => {
    server = own.start([...args, '--port', '0'])
    return (await server.says(ready))[1]!
  }
  const check = async (url: string, ...args: string[]) => {
    const { stdout, stderr } = await own.run(['check', url, ...args, ...trials, ...quick, '--json'])
    expect(stdout, stderr).not.toBe('')
    const report = JSON.parse(stdout) as Report
    expect(report.trials.map(({ name, result }) => [name, result])).toEqual([
      ['accepts', 'pass'],
      ['tampered', 'pass'],
      ['forged', 'pass'],
      ['mangled', 'pass'],
      ['stale', 'pass'],
    ])
  }

  test('hookonce dev in this folder', async () => {
    const address = await start(['dev'], /intake +(http:\/\/[^/]+)/)
    await check(`${address}/webhooks/stripe`, '--provider', 'stripe')
    await check(`${address}/webhooks/slack`, '--provider', 'slack')
    await check(`${address}/webhooks/discord`, '--provider', 'discord', '--only', 'accepts')
    server.signal('SIGTERM')
    await server.ended()
  })

  test('the configuration of this folder, by the name of the source, or options', async () => {
    writeFileSync(
      join(own.path, 'hookonce.config.ts'),
      `import { hmac } from 'hookonce/providers'
      export default { store: 'sqlite:check.db', sources: { shop: hmac(${rules}) }, server: { admin: false } }`,
    )
    const address = await start(['serve'], /hookonce serves (http:\/\/[^;]+);/)
    await check(`${address}/webhooks/shop`, '--provider', 'shop')
    const options = [
      ...[`secret=${secret}`, 'header=x-signature', 'id=json:id', 'type=json:type', 'prefix=v1='],
      ...['timestamp.in=header:x-time', 'timestamp.unit=s', 'timestamp.tolerance=5m'],
    ].flatMap((option) => ['--option', option])
    await check(`${address}/webhooks/shop`, '--provider', 'hmac', ...options)
    server.signal('SIGTERM')
    await server.ended()
    const unknown = await own.run(['check', `${address}/webhooks/shop`, '--provider', 'shopp'])
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('did you mean "shop"?') })
  })
})
