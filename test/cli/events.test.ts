/** Reading the log and giving orders, on the store itself and through a server: the same words either way. */

import { createHash, randomBytes } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInbox, silentLog } from 'hookonce'
import { github, stripe, unverified } from 'hookonce/providers'
import { createServer as createHookonce, type HookonceServer } from 'hookonce/server'
import { sqlite } from 'hookonce/sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { wholeInbox } from '#dist/inbox/internals.js'
import { type Ended, type Folder, freshFolder } from '../support/cli.js'

const secret = 'a secret that is long enough'
const token = 'operator-token-0123456789abcdef'
const viewer = 'viewer-token-0123456789abcdefgh'
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

let folder: Folder
let server: HookonceServer
let url: string
let storeUrl: string

/** Events: evt_ok succeeded (two deliveries), evt_bad a dead letter, one of github that is waiting. */
beforeAll(async () => {
  folder = freshFolder()
  storeUrl = `sqlite:${folder.path}/events.db`
  const inbox = createInbox({
    store: sqlite(`${folder.path}/events.db`),
    sources: { stripe: stripe({ secret }), github: github({ secret }) },
    log: silentLog,
    processing: { retry: { maxAttempts: 1 } },
  })
  inbox.on('github', 'unwanted', () => {})
  inbox.on('stripe', '*', async (event) => {
    if (event.id.startsWith('evt_bad')) throw new Error('the shop is closed')
  })
  server = createHookonce(inbox, {
    port: 0,
    admin: {
      tokens: [
        { name: 'tests', role: 'admin', sha256: sha256(token) },
        { name: 'looker', role: 'viewer', sha256: sha256(viewer) },
      ],
    },
  })
  url = (await server.listen()).url
  const now = Date.now() // one time for all: a second delivery has the same bytes
  const deliver = async (source: string, id: string, type: string) => {
    const from = wholeInbox(inbox).sources.get(source)!
    const delivery = await from.sign(from.sample({ id, type, now }))
    expect(await inbox.receive(source, delivery)).toMatchObject({ httpStatus: 200 })
  }
  await deliver('stripe', 'evt_ok', 'invoice.paid')
  await deliver('stripe', 'evt_ok', 'invoice.paid')
  await deliver('stripe', 'evt_bad', 'invoice.paid')
  await deliver('github', '72d3162e', 'issues')
  await inbox.drain()
  await (await wholeInbox(inbox).store()).duplicates!.flush()
})
afterAll(async () => {
  await server.close()
  await folder.remove()
})

const ways: readonly (readonly [string, () => string[]])[] = [
  ['on the store', () => ['--store', storeUrl]],
  ['through a server', () => ['--server', url]],
]

describe.each(ways)('%s', (_, where) => {
  const run = (...args: string[]) => folder.call([...args, ...where()], { HOOKONCE_TOKEN: token })
  const json = async (...args: string[]) => {
    const ended = await run(...args, '--json')
    return { ...ended, value: ended.stdout === '' ? null : JSON.parse(ended.stdout) }
  }

  test('list shows the latest first, and --json is stable', async () => {
    const { code, value, stderr } = await json('events', 'list')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(steady(value)).toMatchSnapshot('events list')
    const words = await run('events', 'list')
    expect(words.stdout.split('\n')[0]).toMatch(/^RECEIVED +SOURCE +TYPE +ID +STATE +DELIVERIES +REFERENCE$/)
    expect(words.stdout).toMatch(/evt_bad +failed \(dead letter\)/)
  })

  test('filters, a limit and a cursor', async () => {
    expect((await json('events', 'list', '--dead')).value.events).toMatchObject([{ id: 'evt_bad' }])
    expect((await json('events', 'list', '--type', 'invoice.*', '--duplicates')).value.events).toMatchObject([
      { id: 'evt_ok' },
    ])
    const first = await json('events', 'list', '--limit', '2')
    expect(first.value.events).toHaveLength(2)
    const second = await json('events', 'list', '--limit', '2', '--cursor', first.value.next)
    expect(second.value.events).toMatchObject([{ id: 'evt_ok' }])
  })

  test('a source or a label that no event has is said so', async () => {
    for (const args of [
      ['events', 'list'],
      ['retry', '--dead'],
      ['events', 'export'],
    ])
      expect(await run(...args, '--source', 'strpie')).toMatchObject({
        code: 0,
        stderr: expect.stringContaining('no event of a source "strpie" (did you mean "stripe"?)'),
      })
    const { value } = await json('events', 'show', 'evt_ok')
    const [{ label, value: reference }] = value.event.references
    const wrong = await run('events', 'list', '--reference', reference, '--label', 'nosuch')
    expect(wrong).toMatchObject({ code: 0, stdout: 'No event matches.\n' })
    expect(wrong.stderr).toContain(`"${label}"`)
    expect(wrong.stderr).toContain('never "nosuch"')
    const state = await run(
      'events',
      'list',
      '--reference',
      reference,
      '--label',
      label,
      '--state',
      'ignored',
    )
    expect(state).toMatchObject({ code: 0, stdout: 'No event matches.\n', stderr: '' })
  })

  test('show has the attempts, and the payload when asked', async () => {
    const { value } = await json('events', 'show', 'stripe/evt_bad', '--payload', '--note', 'ticket 1')
    expect(steady({ ...value, payload: { ...value.payload, body: '(body)' } })).toMatchSnapshot('events show')
    expect(JSON.parse(Buffer.from(value.payload.body, 'base64').toString())).toMatchObject({ id: 'evt_bad' })
    const raw = await run('events', 'show', 'evt_bad', '--raw')
    expect(raw.stdout).toBe(Buffer.from(value.payload.body, 'base64').toString())
  })

  test('an event that is not there is said so', async () => {
    for (const args of [['evt_none'], ['stripe/evt_none'], ['github/evt_ok']]) {
      const { code, stdout, stderr } = await run('events', 'show', ...args)
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toContain('hookonce events list shows the events')
    }
  })

  test('export writes a line for each event', async () => {
    const { stdout, stderr } = await run('events', 'export', '--source', 'stripe', '--payloads')
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.map((line) => [line.id, typeof line.payload.body])).toEqual([
      ['evt_bad', 'string'],
      ['evt_ok', 'string'],
    ])
    expect(stderr).toContain('2 events exported')
  })

  test('tail goes on from where it is told, and ends when told to', async () => {
    const tail = folder.start(['events', 'tail', '--since', '1h', '--json', ...where()], {
      HOOKONCE_TOKEN: token,
    })
    await tail.says(/"id":"72d3162e"/)
    tail.signal('SIGTERM')
    const { code, stdout } = await tail.ended()
    expect(code).toBe(0)
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).id),
    ).toEqual(['evt_ok', 'evt_bad', '72d3162e'])
  })

  test('orders: a dry run, a refusal, and one that is carried out', async () => {
    const dry = await json('retry', 'evt_bad', '--dry-run')
    expect(dry.value).toEqual({
      verb: 'retry',
      dryRun: true,
      results: [
        { source: 'stripe', id: 'evt_bad', done: true, from: 'failed', to: 'pending', ...extra(dry.value) },
      ],
    })
    const refused = await json('replay', 'evt_ok')
    expect(refused).toMatchObject({ code: 1, value: { results: [{ done: false, code: 'FORCE_NEEDED' }] } })
    const forced = await json('replay', 'evt_ok', '--force', '--note', 'a test')
    expect(forced).toMatchObject({
      code: 0,
      value: { results: [{ done: true, from: 'succeeded', to: 'pending' }] },
    })
    await server.inbox.drain()
  })

  test('an order on a filter counts what it did and what it left', async () => {
    const dry = await json('retry', '--source', 'stripe', '--dead', '--dry-run')
    expect(dry.value).toEqual({
      verb: 'retry',
      dryRun: true,
      stopped: false,
      matched: 1,
      done: 1,
      refused: {},
    })
    const all = await json('replay', '--source', 'stripe', '--rate', '100', '--dry-run')
    expect(all).toMatchObject({ code: 1, value: { matched: 2, done: 1, refused: { FORCE_NEEDED: 1 } } })
    expect(await run('ignore')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Name the events by their ids'),
    })
  })
})

test.each(ways)(
  'replay --conflict, %s: runs the other content, and says when there is none',
  async (_, where) => {
    const run = (...args: string[]) => folder.call([...args, ...where()], { HOOKONCE_TOKEN: token })
    const replay = (id: string) => run('replay', id, '--conflict', '--force', '--note', 'the second is right')
    expect(await replay('evt_bad')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('no other content is kept beside it'),
    })
    const from = wholeInbox(server.inbox).sources.get('stripe')!
    const now = Date.now()
    const [id, types] = [`evt_${now}`, ['invoice.paid', 'invoice.voided']]
    for (const type of types) {
      await server.inbox.receive('stripe', await from.sign(from.sample({ id, type, now })))
      await server.inbox.drain()
    }
    expect(await replay(id)).toMatchObject({ code: 0, stdout: expect.stringContaining('pending') })
    await server.inbox.drain()
    expect((await run('events', 'show', id, '--raw')).stdout).toContain(types[1])
    const shown = (await run('events', 'show', id)).stdout
    expect(shown).toMatch(/conflicts +1: delivered again with other bytes, decided /)
    expect((await run('events', 'list', '--conflicts')).stdout).not.toContain(id)
  },
)

test.each(ways)(
  'ignore --conflict, %s: keeps the first content, by id and by filter',
  async (name, where) => {
    const run = (...args: string[]) => folder.call([...args, ...where()], { HOOKONCE_TOKEN: token })
    const from = wholeInbox(server.inbox).sources.get('stripe')!
    const now = Date.now()
    const ids = [1, 2].map((n) => `evt_${name.length}_${now}_${n}`)
    for (const id of ids)
      for (const type of ['invoice.paid', 'invoice.voided'])
        await server.inbox.receive('stripe', await from.sign(from.sample({ id, type, now })))
    await server.inbox.drain()
    const [one, other] = ids as [string, string]
    expect(await run('events', 'show', one)).toMatchObject({
      stderr: '',
      stdout: expect.stringContaining('open: replay or ignore it with --conflict'),
    })
    const ignore = (...args: string[]) => run('ignore', ...args, '--conflict', '--note', 'the first is right')
    expect((await ignore(one, '--dry-run')).stdout).toContain('first content kept  (not done: --dry-run)')
    const named = (hash: string, ...ids: string[]) => run('ignore', ...ids, '--conflict', hash)
    expect(await named('ab'.repeat(32), one)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('the content that --conflict names is not open'),
    })
    const [hash] = /(?<=--conflict )[0-9a-f]{64}/.exec((await run('events', 'show', one)).stdout)!
    expect(await named(hash)).toMatchObject({ code: 2 })
    expect(await run('ignore', '--conflict', one)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Write ids before the option'),
    })
    expect((await named(hash, one)).stdout).toContain('first content kept')
    expect(await ignore(one)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('it has no open conflict'),
    })
    expect((await run('events', 'show', one)).stdout).toMatch(/succeeded|ignored/)
    const since = ['--conflicts', '--since', new Date(now - 1_000).toISOString()]
    expect(await ignore(...since)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('1 found, 1 decided'),
    })
    expect((await run('events', 'show', other)).stdout).toContain(', decided ')
    expect(await run('replay', ...since, '--conflict')).toMatchObject({ code: 2 })
  },
)

test('an event without its payload is not replayed: the reason is named and counted, also in a dry run', async () => {
  const path = join(folder.path, 'imported.db')
  const store = sqlite(path)
  await store.migrate()
  const times = { receivedAt: Date.now(), processedAt: null }
  const about = { source: 'stripe', type: 'invoice.paid', reference: null, reason: null, payload: null }
  await store.imports.add([{ ...about, ...times, id: 'evt_imported', state: 'succeeded' }])
  await store.close()
  const replay = (...args: string[]) =>
    folder.call(['replay', '--force', ...args, '--store', `sqlite:${path}`, '--note', 'a test'])
  for (const dryRun of [['--dry-run'], []]) {
    const one = await replay('evt_imported', ...dryRun)
    expect(one).toMatchObject({ code: 1, stdout: expect.stringContaining('its payload is not stored') })
    const all = await replay('--source', 'stripe', ...dryRun)
    expect(all).toMatchObject({ code: 1, stdout: expect.stringContaining('1 skipped: its payload is not') })
    expect(all.stdout).toContain('1 found, 0 ')
  }
  const shown = await folder.call(['events', 'list', '--json', '--store', `sqlite:${path}`])
  expect(shown.stdout).toContain('"succeeded"')
})

describe.concurrent('it says what to do when', () => {
  const failsWith = async (args: string[], code: number, words: string, env: Record<string, string> = {}) => {
    const ended: Ended = await folder.call(args, env)
    expect({ code: ended.code, stdout: ended.stdout }).toEqual({ code, stdout: '' })
    expect(ended.stderr).toContain(words)
    expect(ended.stderr).not.toMatch(/\n\s+at /)
  }

  test('there is no log here', () => failsWith(['events', 'list'], 1, 'Start hookonce dev in this folder'))
  test('the store cannot be reached', () =>
    failsWith(
      ['events', 'list', '--store', 'postgres://127.0.0.1:9/none'],
      1,
      'Check that the database is up',
    ))
  test('the store URL is not one', () =>
    failsWith(['events', 'list', '--store', 'mysql://x'], 1, 'sqlite:path/to/file.db'))
  test('the store is in memory', () =>
    failsWith(['events', 'list', '--store', 'sqlite::memory:'], 2, 'Name a file.'))
  test('the server cannot be reached', () =>
    failsWith(['events', 'list', '--server', 'http://127.0.0.1:9'], 1, 'check --server'))
  test('the server URL is not one', () => failsWith(['retry', 'x', '--server', 'hooks'], 2, 'must be a URL'))
  test('a token is missing, wrong, or not allowed to', async () => {
    await failsWith(['events', 'list'], 1, 'requires a token', { HOOKONCE_SERVER: url })
    await failsWith(['events', 'list'], 1, 'does not accept this token', {
      HOOKONCE_SERVER: url,
      HOOKONCE_TOKEN: 'wrong',
    })
    await failsWith(['retry', 'evt_bad', '--server', url], 1, 'operator', { HOOKONCE_TOKEN: viewer })
  })
  test('both a store and a server are named', () =>
    failsWith(['events', 'list', '--server', url, '--store', storeUrl], 2, 'cannot be used together'))
  test('a state, a time or a rate is not one', async () => {
    await failsWith(
      ['events', 'list', '--state', 'lost'],
      2,
      'pending, processing, succeeded, ignored, failed',
    )
    await failsWith(['events', 'list', '--since', 'yesterday'], 2, 'or an age such as 2h')
    await failsWith(['retry', 'x', '--rate', '0'], 2, 'must be a number above 0')
  })
  test('what answers there is something else', async () => {
    const other = createServer((_, response) => response.end('<html>')).listen(0, '127.0.0.1')
    await new Promise((resolve) => other.once('listening', resolve))
    const { port } = other.address() as AddressInfo
    await failsWith(
      ['events', 'list', '--server', `http://127.0.0.1:${port}`],
      1,
      'is not from the admin API of hookonce',
    )
    other.close()
  })
})

/** Values that differ from run to run, by what they are. */
function steady(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, inner) => {
      if (/At$/.test(key) && typeof inner === 'string') return '(time)'
      if (key === 'at') return '(time)'
      if (/hash$/i.test(key) && inner !== null) return '(hash)'
      if (key === 'worker') return '(worker)'
      if (key === 'place' && inner !== null) return '(place)'
      return inner
    }),
  )
}

/** The API also says `dryRun` for each. */
function extra(value: { results: { dryRun?: boolean }[] }): object {
  return value.results[0]?.dryRun === undefined ? {} : { dryRun: value.results[0].dryRun }
}

test('a configuration is run for its keys, and not when --store or --server names the log', async () => {
  const own = freshFolder()
  try {
    const encryption = { current: 'k1', keys: { k1: randomBytes(32).toString('base64') } }
    const url = `sqlite:${join(own.path, 'other.db')}`
    const inbox = createInbox({
      store: url,
      encryption,
      sources: { shop: unverified({ id: 'json:id', type: 'json:type' }) },
      processing: false,
    })
    await inbox.receive('shop', {
      method: 'POST',
      url: 'http://localhost/webhooks/shop',
      headers: { 'content-type': 'application/json' },
      body: Buffer.from('{"id":"e1","type":"paid","note":"private"}'),
    })
    await inbox.stop()
    const show = ['events', 'show', 'shop/e1', '--payload', '--note', 'a test']
    const flag = join(own.path, 'ran')
    writeFileSync(join(own.path, 'secret.txt'), 'whsec_0123456789abcdef')
    writeFileSync(
      join(own.path, 'hookonce.config.mjs'),
      `import { existsSync, writeFileSync } from 'node:fs'
      writeFileSync(${JSON.stringify(flag)}, '')
      export default { store: 'sqlite:mine.db', sources: {}, encryption: ${JSON.stringify(encryption)} }`,
    )
    for (const args of [
      ['events', 'list', '--store', url],
      ['events', 'list', '--server', 'http://127.0.0.1:9'],
      ['doctor', '--store', url],
      ['migrate', 'status', '--store', url],
      ['prune', '--dry-run', '--store', url],
      ['archive', 'list', '--archive', 'none'],
      ['erase', 'x', '--dry-run', '--store', url],
      ['import', 'shop', '--file', 'none.csv', '--store', url],
      ['send', 'stripe', '--secret-file', 'secret.txt', '--to', 'http://127.0.0.1:9'],
    ]) {
      await own.run(args)
      expect([args, existsSync(flag)]).toEqual([args, false])
    }
    const listed = await own.call(['events', 'list', '--store', url])
    expect(listed.stdout).toContain('e1')
    expect(listed.stderr).toContain('hookonce.config is not used')
    expect(await own.call([...show, '--store', url])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is encrypted with the key "k1"'),
    })
    expect(await own.call(['prune', '--dry-run', '--store', url])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('the retention that it sets'),
    })
    const shown = await own.call(show, { HOOKONCE_STORE: url })
    expect({ code: shown.code, stderr: shown.stderr }).toEqual({ code: 0, stderr: '' })
    expect(shown.stdout).toContain('private')
    expect(existsSync(flag)).toBe(true)
  } finally {
    await own.remove()
  }
})
