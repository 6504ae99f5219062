/** A configuration that changes while the server runs. */

import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLog } from 'hookonce'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { inboxFromConfig, swapInbox } from '#dist/config/build.js'
import { type LoadedConfig, loadConfig } from '#dist/config/load.js'
import { watchConfig } from '#dist/config/watch.js'
import { wholeInbox } from '#dist/inbox/internals.js'
import { signal, until } from '../support/processing.js'
import { afterwards, serving } from '../support/serving.js'

let cwd: string
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'hookonce-reload-'))
})
afterEach(() => rm(cwd, { recursive: true, force: true }))

const path = () => join(cwd, 'hookonce.config.ts')

/** As editors do: written beside, then moved over. */
async function write(text: string, name = 'hookonce.config.ts'): Promise<void> {
  await writeFile(join(cwd, `${name}.tmp`), text)
  await rename(join(cwd, `${name}.tmp`), join(cwd, name))
}

const text = (name: string, more = '') => `import { unverified } from 'hookonce/providers'
export default {
  store: 'sqlite:${join(cwd, 'events.db')}',
  sources: { ${name}: unverified({ id: 'json:id', type: 'json:type' }) },
  log: 'silent',
  ${more}
}`

async function watched() {
  const changes: LoadedConfig[] = []
  const problems: unknown[] = []
  const loaded = await loadConfig({ cwd, env: {} })
  const watch = watchConfig(loaded, {
    onChange: (next) => void changes.push(next),
    onProblem: (error) => void problems.push(error),
  })
  afterwards(async () => watch.close())
  return { loaded, changes, problems }
}

test('a change is told once, with the new configuration', async () => {
  await write(text('first'))
  const { changes, problems } = await watched()
  await write(text('second'))
  await until(() => changes.length === 1, 'told')
  expect(Object.keys(changes[0]!.config.sources)).toEqual(['second'])
  expect(problems).toEqual([])
})

test('a change in a file it imports is one too', async () => {
  await write("export const name = 'a'", 'name.ts')
  await write(`import { name } from './name'\n${text('first', 'processing: { worker: name }')}`)
  const { loaded, changes } = await watched()
  expect(loaded.config.processing).toEqual({ worker: 'a' })
  await write("export const name = 'b'", 'name.ts')
  await until(() => changes.length === 1, 'told')
  expect(changes[0]!.config.processing).toEqual({ worker: 'b' })
})

test('a broken file is told and changes nothing; when it is mended it counts', async () => {
  await write(text('first'))
  const { changes, problems } = await watched()
  await write('export default {\n  store: \n}')
  await until(() => problems.length === 1, 'told')
  expect(problems[0]).toMatchObject({ code: 'CONFIG_UNREADABLE' })
  expect(String(problems[0])).toContain(`${path()}:3`)
  await write(text('first', 'sorces: {}'))
  await until(() => problems.length === 2, 'told again')
  expect(problems[1]).toMatchObject({ code: 'CONFIG_INVALID' })
  expect(changes).toEqual([])
  await write(text('third'))
  await until(() => changes.length === 1, 'mended')
  expect(Object.keys(changes[0]!.config.sources)).toEqual(['third'])
})

test('a server takes the new inbox without refusing a delivery, and a request on the old one finishes there', async () => {
  await write(text('shop'))
  const loaded = await loadConfig({ cwd, env: {} })
  const begun = signal()
  const goOn = signal()
  const first = await inboxFromConfig(loaded)
  const { url, server } = await serving({
    ...first,
    async receive(source, delivery) {
      if (Buffer.from(delivery.body).includes('slow')) {
        begun.give()
        await goOn.wait
      }
      return first.receive(source, delivery)
    },
  })
  const post = async (source: string, id: string) =>
    (await fetch(`${url}/webhooks/${source}`, { method: 'POST', body: JSON.stringify({ id, type: 'x' }) }))
      .status

  const slow = post('shop', 'slow')
  await begun.wait
  await write(
    text('shop').replace('sources: {', "sources: { other: unverified({ id: 'json:id', type: 'json:type' }),"),
  )
  const answers: Promise<number>[] = []
  let over = false
  const next = await inboxFromConfig(await loadConfig({ cwd, env: {} }), { log: silentLog })
  const swapped = swapInbox(server, next).then(() => {
    over = true
  })
  for (let i = 0; i < 40 || (await post('other', `probe-${i}`)) === 404; i++)
    answers.push(post('shop', `e${i}`))
  expect(over).toBe(false) // a request still uses the old inbox
  goOn.give()
  expect(await slow).toBe(200)
  await swapped
  expect(server.inbox).toBe(next)
  expect([...new Set(await Promise.all(answers))]).toEqual([200])
  expect(await post('other', 'new source')).toBe(200)
  expect(await next.events.get({ source: 'shop', id: 'slow' })).not.toBeNull()
  await expect(first.events.stats()).rejects.toMatchObject({ code: 'STORE_CLOSED' })
})

test('a configuration whose inbox cannot start leaves the running one alone', async () => {
  await write(text('shop'))
  const first = await inboxFromConfig(await loadConfig({ cwd, env: {} }))
  await wholeInbox(first).store()
  const { url, server } = await serving(first, { readyTimeout: 20_000 })
  const bad = await loadConfig({
    cwd,
    env: { HOOKONCE_STORE: `sqlite:${join(path(), 'a file is no folder.db')}` },
  })
  await expect(swapInbox(server, await inboxFromConfig(bad))).rejects.toMatchObject({
    code: expect.stringMatching(/^STORE_/),
  })
  expect(server.inbox).toBe(first)
  expect((await fetch(`${url}/readyz`)).status).toBe(200)
})
