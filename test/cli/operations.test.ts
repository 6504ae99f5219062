/** Keeping, letting go and looking after: prune, archive, erase, doctor; and the `--json` of every command. */

import { chmodSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import type { Command } from 'commander'
import { createInbox, silentLog } from 'hookonce'
import { stripe } from 'hookonce/providers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pathOf } from '#dist/cli/command.js'
import { createProgram } from '#dist/cli/program.js'
import { openStore } from '#dist/open-store.js'
import { SpoolFile } from '#dist/spool/spool-file.js'
import { type Folder, freshFolder } from '../support/cli.js'
import { freshDatabase } from '../support/database.js'

const secret = 'a secret that is long enough'
const DAY_MS = 86_400_000
let folder: Folder

/** In the default store of the folder: evt_done of 60 days ago, which succeeded, and evt_new, which waits. */
beforeAll(async () => {
  folder = freshFolder()
  expect((await folder.call(['migrate', 'up', '--store', 'sqlite:first.db'])).code).toBe(0)
  // A log in which nothing waits: doctor finds no fault in it, however long the tests take.
  expect((await folder.call(['migrate', 'up', '--store', 'sqlite:idle.db'])).code).toBe(0)
  writeFileSync(join(folder.path, 'old.ndjson'), '{"id":"evt_old","type":"invoice.paid"}\n')
  const store = await openStore(`sqlite:${folder.path}/first.db`)
  const source = stripe({ secret })
  const inbox = createInbox({ store, sources: { stripe: source }, log: silentLog })
  inbox.on('stripe', '*', async () => {})
  const event = (eventId: string) => ({
    id: eventId,
    type: 'invoice.paid',
    reference: 'in_1',
    contentHash: null,
    guardHash: null,
  })
  const delivery = { source: 'stripe', headers: {}, contentGuard: 'review' } as const
  const old = { ...delivery, body: Buffer.from('{"old":1}'), events: [event('evt_done')] }
  await store.record([{ ...old, receivedAt: Date.now() - 60 * DAY_MS }])
  await inbox.drain()
  await store.record([{ ...delivery, body: Buffer.from('{"new":1}'), events: [event('evt_new')] }])
  await inbox.stop()
  await store.close()
  // A log whose event has its payload, whatever the tests of retention and erasure have removed.
  const kept = await openStore(`sqlite:${folder.path}/kept.db`)
  await kept.migrate()
  const finished = { source: 'stripe', type: 'invoice.paid', reference: null, reason: null } as const
  const times = { receivedAt: Date.now(), processedAt: null, state: 'succeeded' } as const
  const payload = { headers: {}, body: Buffer.from('{}') }
  await kept.imports!.add([{ ...finished, ...times, id: 'evt_kept', payload }])
  await kept.close()
})
afterAll(() => folder.remove())

const env = { HOOKONCE_STORE: 'sqlite:first.db' }
const run = async (...args: string[]) => {
  const ended = await folder.call([...args, '--json'], env)
  return { ...ended, value: ended.stdout === '' ? null : JSON.parse(ended.stdout) }
}

test('archive, prune, restore: bytes go and come back; what is not finished stays', async () => {
  const archived = await run('archive', 'run', '--archive', 'kept')
  expect(archived.value).toEqual({
    archive: 'directory kept',
    sources: { stripe: { objects: 2, deliveries: 2 } },
  })
  expect((await run('archive', 'list', '--archive', 'kept')).value.days).toHaveLength(2)
  expect(await run('archive', 'verify', '--archive', 'kept')).toMatchObject({ code: 0, value: { ok: true } })

  const dry = await run('prune', '--dry-run')
  expect(dry.value.sources.stripe).toMatchObject({ payloads: 1, events: 0 })
  expect((await run('prune')).value).toMatchObject({
    dryRun: false,
    busy: false,
    sources: { stripe: { payloads: 1 } },
  })
  expect((await run('events', 'show', 'evt_done')).value.event.payload).toBe('removed')
  expect((await run('events', 'show', 'evt_new')).value.event.payload).toBe('kept')

  const restored = await run(
    'archive',
    'restore',
    '--archive',
    'kept',
    '--id',
    'evt_done',
    '--note',
    'a test',
  )
  expect(restored.value).toMatchObject({ restored: 1, skipped: 0 })
  const shown = await run('events', 'show', 'evt_done', '--payload')
  expect(Buffer.from(shown.value.payload.body, 'base64').toString()).toBe('{"old":1}')
})

test('a damaged archive is found out', async () => {
  const day = readdirSync(join(folder.path, 'kept', 'stripe')).sort()[0]!
  const object = readdirSync(join(folder.path, 'kept', 'stripe', day)).find(
    (name) => name !== 'manifest.json',
  )!
  writeFileSync(join(folder.path, 'kept', 'stripe', day, object), 'nothing of it')
  const { code, value } = await run('archive', 'verify', '--archive', 'kept')
  expect(code).toBe(1)
  expect(value.ok).toBe(false)
})

test('retention below a retry window is refused', async () => {
  const { code, stdout, stderr } = await run('prune', '--events', '1h', '--payloads', '1h')
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain('stripe')
})

test('events are found by any of their references, and erased by one of a label', async () => {
  const store = await openStore(`sqlite:${join(folder.path, 'about.db')}`)
  await store.migrate()
  const references = [
    { label: 'invoice', value: 'in_9' },
    { label: 'customer', value: 'a:9' },
  ]
  const event = { id: 'e9', type: 'paid', reference: 'in_9', references, contentHash: null, guardHash: null }
  const delivery = { headers: {}, body: Buffer.from('{"name":"Ann"}'), contentGuard: 'accept' as const }
  await store.record([{ ...delivery, source: 'shop', events: [event], receivedAt: Date.now() - 86_400_000 }])
  const about = ['--store', 'sqlite:about.db']
  const found = async (...args: string[]) =>
    (await run('events', 'list', ...about, ...args)).value.events.map(({ id }: { id: string }) => id)
  expect(await found('--reference', 'a:9')).toEqual(['e9'])
  expect(await found('--reference', 'a:9', '--label', 'customer')).toEqual(['e9'])
  expect(await found('--reference', 'a:9', '--label', 'invoice')).toEqual([])
  expect(await run('events', 'list', ...about, '--label', 'customer')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--label needs --reference'),
  })
  const { stdout } = await folder.call(['events', 'show', 'e9', ...about])
  expect(stdout).toMatch(/reference +in_9 \(invoice\)\n +customer +a:9\n/)
  const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
  const { seq } = (await store.get({ source: 'shop', id: 'e9' }))!
  await store.archive.archived([{ source: 'shop', day, object: 3, seqs: [seq], sha256: '0'.repeat(64) }])
  await store.close()
  const erase = ['erase', 'a:9', '--note', 'x', '--yes', ...about]
  expect(await folder.call([...erase, '--label', 'custmer'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('payloads of 0 events'),
    stderr: expect.stringContaining(
      'The reference "a:9" has the label "customer" in the log, and never "custmer".',
    ),
  })
  expect(
    (await folder.call(['erase', 'a:8', '--label', 'customer', '--dry-run', ...about])).stderr,
  ).toContain('No event has the reference "a:8", with any label.')
  const erased = await folder.call([...erase, '--label', 'customer'])
  expect(erased.stdout).toContain('payloads of 1 event with reference "a:9" erased')
  expect(erased.stderr).not.toContain('never')
  expect(erased.stdout).toContain(`The archive still holds them, in 1 object.`)
  expect(erased.stdout).toContain(`shop/${day}/3.jsonl.gz`)
})

test('erase wants a note and a yes, and is for good', async () => {
  expect(await run('erase', 'in_1')).toMatchObject({ code: 2, stderr: expect.stringContaining('--note') })
  expect(await run('erase', 'in_1', '--note', 'x')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--yes'),
  })
  expect((await run('erase', 'in_1', '--dry-run')).value).toMatchObject({ dryRun: true, events: 2 })
  expect((await run('erase', 'in_1', '--note', 'x', '--yes')).value).toEqual({
    dryRun: false,
    reference: 'in_1',
    payloads: 2,
    events: 2,
    busy: 0,
    archived: [
      { source: 'stripe', day: expect.any(String), object: 1 },
      { source: 'stripe', day: expect.any(String), object: 1 },
    ],
  })
  expect(await run('events', 'show', 'evt_done', '--payload')).toMatchObject({
    code: 1,
    value: { payload: null },
  })
})

describe('doctor', () => {
  test('says what is so', async () => {
    const { code, value } = await run('doctor', '--store', 'sqlite:idle.db')
    expect({ code, ok: value.ok }, JSON.stringify(value.findings)).toEqual({ code: 0, ok: true })
    const names = value.findings.map(({ name }: { name: string }) => name)
    for (const name of ['node', 'store', 'schema', 'clock', 'synchronous', 'backlog'])
      expect(names).toContain(name)
    expect(names).toEqual(
      expect.arrayContaining([
        'one row per event',
        'finished events stay finished',
        'unfinished events have their payloads',
      ]),
    )
  })

  test('shows an attempt that runs for long, and its worker', async () => {
    const busy = join(folder.path, 'busy.db')
    expect((await folder.call(['migrate', 'up', '--store', 'sqlite:busy.db'])).code).toBe(0)
    const store = await openStore(`sqlite:${busy}`)
    const event = { id: 'e1', type: 'a', reference: null, contentHash: null, guardHash: null }
    await store.record([
      { source: 's', headers: {}, body: Buffer.from('{}'), events: [event], contentGuard: 'accept' },
    ])
    await store.claim({ worker: 'host:1:abc', limit: 1, leaseMs: 600_000 })
    await store.close()
    const database = new DatabaseSync(busy)
    database.exec('update hookonce_work set claimed_at = claimed_at - 420000')
    database.close()
    const { code, value } = await run('doctor', '--store', 'sqlite:busy.db')
    expect(code).toBe(1)
    const attempts = value.findings.find(({ name }: { name: string }) => name === 'attempts')
    expect(attempts).toMatchObject({ ok: false, fix: expect.stringContaining('ctx.signal') })
    expect(attempts.value).toMatch(/the oldest claim is 7(\.\d)? minutes old, by host:1:abc/)
  })

  test('says what is not, with what to do, and fails', async () => {
    const sick = freshFolder()
    expect((await sick.run(['dev', '--port', '0', '--store', 'nonsense:x'])).code).toBe(1) // leaves a secret behind
    chmodSync(join(sick.path, '.hookonce', 'secret'), 0o644)
    const { code, stdout, stderr } = await sick.call(['doctor'])
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
    expect(stdout).toMatch(/PROBLEM +development secret +others can read it \(mode 644\)/)
    expect(stdout).toContain('chmod 600 .hookonce/secret')
    expect(stdout).toContain('Start hookonce dev in this folder')
    writeFileSync(join(sick.path, 'hookonce.config.mjs'), 'export default { stores: 1 }')
    expect((await sick.call(['doctor'])).stdout).toMatch(/"store"/)
    const elsewhere = await sick.call(['doctor', '--store', 'postgres://127.0.0.1:9/x'])
    expect(elsewhere.stdout).toMatch(/not read, because of --store[\s\S]*database is up/)
    await sick.remove()
  })

  test('says when handlers run in parallel more often than they can have transactions', async () => {
    const database = await freshDatabase()
    const sick = freshFolder()
    const config = (concurrency: string) =>
      `export default { store: '${database.url}', sources: {}, processing: {${concurrency}} }`
    for (const [concurrency, ok] of [
      ['concurrency: 11', false],
      ['', true],
    ] as const) {
      writeFileSync(join(sick.path, 'hookonce.config.mjs'), config(concurrency))
      const { findings } = JSON.parse((await sick.run(['doctor', '--json'])).stdout)
      expect(findings).toContainEqual(expect.objectContaining({ name: 'handler transactions', ok }))
    }
    await sick.remove()
    await database.drop()
  })

  test('says which deliveries of the spool are set aside, and why', async () => {
    const sick = freshFolder()
    const path = join(sick.path, 'spool.db')
    const spool = new SpoolFile({ path, maxBytes: 1e6 })
    const block = new Uint8Array(100)
    spool.put([1, 2].map((receivedAt) => ({ source: 'shop', receivedAt, sealed: false, block })))
    const failed = { id: 1, source: 'shop', code: 'STORE_PRIVILEGE', detail: 'a grant is missing' }
    spool.remove({ done: [2], setAside: [failed], now: Date.now() })
    spool.close()
    const config = `export default { store: 'sqlite:log.db', sources: {}, spool: { path: ${JSON.stringify(path)} } }`
    writeFileSync(join(sick.path, 'hookonce.config.mjs'), config)
    const { code, stdout } = await sick.call(['doctor'])
    expect(code).toBe(1)
    expect(stdout).toMatch(/PROBLEM +spool, set aside +1 delivery that could not be recorded/)
    expect(stdout).toMatch(/STORE_PRIVILEGE, a grant is missing/)
    await sick.remove()
  })
})

test('on PostgreSQL: migrate, doctor, list, tail and an order', async () => {
  const database = await freshDatabase()
  const on = async (...args: string[]) => {
    const ended = await folder.call([...args, '--store', database.url, '--json'])
    return { ...ended, value: ended.stdout === '' ? null : JSON.parse(ended.stdout) }
  }
  expect(await on('migrate', 'status')).toMatchObject({ code: 1, value: { found: 0, upToDate: false } })
  expect(await on('events', 'list')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('hookonce migrate up'),
  })
  expect(await on('migrate', 'up')).toMatchObject({ code: 0, value: { from: 0 } })
  expect(await on('migrate', 'status')).toMatchObject({ code: 0, value: { upToDate: true } })
  const store = await openStore(database.url)
  const event = { id: 'evt_1', type: 'ping', reference: null, contentHash: null, guardHash: null }
  await store.record([
    { source: 'stripe', headers: {}, contentGuard: 'review', body: Buffer.from('{}'), events: [event] },
  ])
  await store.close()
  expect((await on('events', 'list')).value.events).toMatchObject([{ id: 'evt_1', state: 'pending' }])
  expect((await on('ignore', 'evt_1', '--note', 'a test')).value.results).toMatchObject([{ to: 'ignored' }])
  const tail = folder.start(['events', 'tail', '--since', '1h', '--store', database.url, '--json'])
  await tail.says(/"id":"evt_1".*"state":"ignored"/)
  tail.signal('SIGTERM')
  expect((await tail.ended()).code).toBe(0)
  const { value, stdout } = await on('doctor')
  expect(value.ok, stdout).toBe(true)
  expect(stdout).not.toContain(new URL(database.url).password || 'no password here')
  await database.drop()
})

describe('--json of every command parses and stays the same', () => {
  /** Null: it runs until it is told to stop, and its own tests read its lines. */
  const calls: Readonly<Record<string, readonly string[] | null>> = {
    init: ['--dry-run'],
    dev: null,
    serve: null,
    worker: null,
    why: null,
    listen: null,
    'events tail': null,
    check: null, // test/check
    mcp: null,
    send: null, // send.test.ts
    'events list': ['--limit', '1'],
    'events show': ['evt_new'],
    'events export': ['--source', 'stripe'],
    retry: ['--source', 'stripe', '--dead', '--dry-run'],
    replay: ['evt_kept', '--force', '--dry-run', '--store', 'sqlite:kept.db'],
    ignore: ['evt_new', '--dry-run'],
    pause: [],
    resume: null, // pause.test.ts
    'migrate up': [],
    'migrate status': [],
    'migrate sql': [],
    reconcile: ['--demo'],
    prune: ['--dry-run'],
    'archive run': ['--archive', 'again'],
    'archive list': ['--archive', 'none'],
    'archive verify': ['--archive', 'none'],
    'archive restore': ['--archive', 'none'],
    erase: ['in_1', '--dry-run'],
    doctor: ['--store', 'sqlite:idle.db'],
    import: ['stripe', '--file', 'old.ndjson', '--dry-run'],
    'token create': ['--name', 'ada', '--role', 'viewer'],
    providers: ['github'],
  }

  test('none is missing here', async () => {
    const leaves = (command: Command): Command[] =>
      command.commands.length === 0 ? [command] : command.commands.flatMap(leaves)
    const names = leaves(await createProgram()).map((command) => pathOf(command).replace('hookonce ', ''))
    expect(Object.keys(calls).sort()).toEqual(names.sort())
  })

  for (const [name, args] of Object.entries(calls)) {
    if (args === null) continue
    test(name, async () => {
      const { stdout, code } = await folder.call([...name.split(' '), ...args, '--json'], env)
      expect(code).toBe(0)
      const values = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
      expect(values.map(shape)).toMatchSnapshot()
    })
  }
})

/** The keys and the kinds of values; texts are kept where they are words of ours. */
function shape(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? [] : [shape(value[0])]
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shape(inner)]))
  return value === null ? null : typeof value
}
