/** `--reason` selects events by the reason they were ignored for; `--note` is the text in the audit. */

import { createHash } from 'node:crypto'
import { createInbox, silentLog } from 'hookonce'
import { stripe } from 'hookonce/providers'
import { createServer, type HookonceServer } from 'hookonce/server'
import { sqlite } from 'hookonce/sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { wholeInbox } from '#dist/inbox/internals.js'
import { type Folder, freshFolder } from '../support/cli.js'

const token = 'operator-token-0123456789abcdef'
let folder: Folder
let server: HookonceServer
let url: string
let storeUrl: string

/** Ignored: evt_1 and evt_2 because no handler matched, evt_3 and evt_4 by an operator. */
beforeAll(async () => {
  folder = freshFolder()
  storeUrl = `sqlite:${folder.path}/events.db`
  const inbox = createInbox({
    store: sqlite(`${folder.path}/events.db`),
    sources: { stripe: stripe({ secret: 'a secret that is long enough' }) },
    log: silentLog,
  })
  const sha256 = createHash('sha256').update(token).digest('hex')
  server = createServer(inbox, { port: 0, admin: { tokens: [{ name: 'tests', role: 'admin', sha256 }] } })
  url = (await server.listen()).url
  const source = wholeInbox(inbox).sources.get('stripe')!
  for (const id of ['evt_1', 'evt_2', 'evt_3', 'evt_4'])
    await inbox.receive('stripe', await source.sign(source.sample({ id, now: Date.now() })))
  for (const eventId of ['evt_3', 'evt_4']) await inbox.ignore({ source: 'stripe', id: eventId })
  inbox.on('stripe', 'no.such.type', () => {})
  await inbox.drain()
})
afterAll(async () => {
  await server.close()
  await folder.remove()
})

const audits = async (eventId: string) => {
  const store = await wholeInbox(server.inbox).store()
  const { audits } = await store.audit!.list({ source: 'stripe', eventId }, { limit: 50, cursor: null })
  return audits.map(({ verb, note }) => [verb, note])
}

const ways: readonly (readonly [string, () => string[]])[] = [
  ['on the store', () => ['--store', storeUrl]],
  ['through a server', () => ['--server', url]],
]

async function runJson(args: string[], where: string[]) {
  const ended = await folder.call([...args, '--json', ...where], { HOOKONCE_TOKEN: token })
  const value = ended.stdout.startsWith('{"verb"') ? JSON.parse(ended.stdout) : null
  return { ...ended, value }
}

describe.each(ways)('%s', (way, where) => {
  const run = (...args: string[]) => runJson(args, where())

  test('replay --reason selects the events that were ignored for that reason, and no other', async () => {
    const dry = await run('replay', '--state', 'ignored', '--reason', 'unhandled', '--dry-run')
    expect(dry).toMatchObject({ code: 0, value: { matched: 2, done: 2 } })
    const all = await run('replay', '--state', 'ignored', '--dry-run')
    expect(all.value).toMatchObject({ matched: 4, done: 4 })
    const note = `added the handler, ${way}`
    const replayed = await run('replay', '--reason', 'unhandled', '--note', note)
    expect(replayed.value).toMatchObject({ matched: 2, done: 2 })
    await server.inbox.drain()
    expect(await audits('evt_1')).toContainEqual(['replay', note])
    expect(await audits('evt_3')).not.toContainEqual(['replay', note])
  })

  test('export selects with --reason and notes with --note', async () => {
    const exported = await run('events', 'export', '--reason', 'operator', '--payloads', '--note', way)
    expect(exported.stderr).toContain('2 events exported')
    expect(await audits('evt_3')).toContainEqual(['payload', way])
    await run('events', 'show', 'evt_4', '--payload', '--note', way)
    expect(await audits('evt_4')).toContainEqual(['payload', way])
  })
})

const onStore = (...args: string[]) => runJson(args, ['--store', storeUrl])

test('a note that was given as --reason selects no event, and --note is named', async () => {
  const none = await onStore('replay', '--source', 'stripe', '--reason', 'the fix is out')
  expect(none).toMatchObject({ code: 0, value: { matched: 0 }, stderr: expect.stringContaining('--note') })
})

test('events named by id take no filter', async () => {
  for (const filter of [['--reason', 'ticket 1'], ['--state', 'ignored'], ['--dead'], ['--source', 'stripe']])
    expect(await onStore('replay', 'evt_2', ...filter)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/named by id.*--note/),
    })
  const chosen = await onStore('replay', 'stripe/evt_2', '--note', 'ticket 1')
  expect(chosen).toMatchObject({ code: 0 })
  expect(await audits('evt_2')).toContainEqual(['replay', 'ticket 1'])
  await server.inbox.drain()
})

test('the API takes note for the audit, and reason only in a filter', async () => {
  const start = (body: object) =>
    fetch(`${url}/api/events/actions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ verb: 'replay', dryRun: true, ...body }),
    })
  expect((await start({ filter: { state: 'ignored' }, reason: 'unhandled' })).status).toBe(400)
  const clear = await start({ filter: { state: 'ignored', reason: 'unhandled' }, note: 'ticket 2' })
  const { id } = (await clear.json()) as { id: string }
  const look = async () => {
    const headers = { authorization: `Bearer ${token}` }
    return (await fetch(`${url}/api/actions/${id}`, { headers })).json()
  }
  await expect.poll(look).toMatchObject({ state: 'done', matched: 2 })
})
