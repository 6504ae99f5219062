/** Configuration files as people write them, in folders that have nothing installed. */

import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HookonceError } from 'hookonce'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { inboxFromConfig } from '#dist/config/build.js'
import { configKeys } from '#dist/config/check.js'
import { loadConfig } from '#dist/config/load.js'
import { errorTable } from '#dist/error-table.js'
import { wholeInbox } from '#dist/inbox/internals.js'
import { loggedInbox } from '../support/inboxes.js'

let cwd: string
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'hookonce-config-'))
})
afterEach(() => rm(cwd, { recursive: true, force: true }))

const write = (name: string, text: string) => writeFile(join(cwd, name), text)
const load = (env: Record<string, string> = {}, path?: string) =>
  loadConfig({ cwd, env, ...(path ? { path } : {}) })

/** A valid file with these keys in it. */
function withKeys(keys: string): string {
  return `import { defineConfig } from 'hookonce'
import { unverified } from 'hookonce/providers'
export default defineConfig({
  store: 'sqlite::memory:',
  sources: { shop: unverified({ id: 'json:id', type: 'json:type' }) },
  ${keys}
})`
}

async function problem(keys: string, env = {}): Promise<string> {
  await write('hookonce.config.mjs', withKeys(keys))
  const error = await load(env).catch((error: unknown) => error)
  expect(error).toBeInstanceOf(HookonceError)
  expect(error).toMatchObject({ code: 'CONFIG_INVALID' })
  return String((error as HookonceError).details.problem)
}

describe('finding and running the file', () => {
  test.each([
    ['hookonce.config.ts', 'const port: number = 4_321'],
    ['hookonce.config.js', 'const port = 4_321'],
    ['hookonce.config.mjs', 'const port = await Promise.resolve(4_321)'],
  ])('%s is found and run with no package beside it', async (name, line) => {
    await write(name, `${line}\n${withKeys('server: { port }')}`)
    const { config, path } = await load()
    expect(path).toBe(join(cwd, name))
    expect(config.server).toEqual({ port: 4_321 })
    const inbox = await inboxFromConfig({ config, warnings: [] })
    expect([...wholeInbox(inbox).sources.keys()]).toEqual(['shop'])
    await inbox.stop()
  })

  test('gives the file this very package: an error it throws is one of ours', async () => {
    await write(
      'hookonce.config.ts',
      `import { HookonceError } from 'hookonce'
       import { sqlite } from 'hookonce/sqlite'
       export default { store: sqlite(':memory:'), sources: {}, handlers() { throw new HookonceError('STORE_CLOSED') } }`,
    )
    const loaded = await load()
    const store = loaded.config.store as { close(): Promise<void> }
    await expect(inboxFromConfig(loaded)).rejects.toBeInstanceOf(HookonceError)
    await store.close()
  })

  test('knows the files it imports, and registers the handlers of another file', async () => {
    await write('handlers.ts', "export const on = (inbox: any) => inbox.on('shop', '*', async () => {})")
    await write('hookonce.config.ts', `import { on } from './handlers'\n${withKeys('handlers: on')}`)
    const loaded = await load()
    expect([...loaded.files].sort()).toEqual([join(cwd, 'handlers.ts'), join(cwd, 'hookonce.config.ts')])
    const inbox = await inboxFromConfig(loaded)
    expect(() => inbox.on('shop', '*', async () => {})).toThrow(/handler for "\*" of source "shop"/)
    await inbox.stop()
  })

  test('no file, a path that leads nowhere, and two files at once, are errors', async () => {
    await expect(load()).rejects.toMatchObject({
      code: 'CONFIG_MISSING',
      message: expect.stringContaining(join(cwd, 'hookonce.config.ts')),
    })
    await expect(load({}, 'other.ts')).rejects.toMatchObject({ code: 'CONFIG_MISSING' })
    await write('hookonce.config.ts', withKeys(''))
    await write('hookonce.config.js', withKeys(''))
    await expect(load()).rejects.toThrow(/hookonce\.config\.ts and hookonce\.config\.js are both there/)
  })

  test('a parse error says file, line and what is wrong', async () => {
    await write('hookonce.config.ts', 'export default {\n  store: "x",\n  sources: = 1,\n}\n')
    await expect(load()).rejects.toMatchObject({
      code: 'CONFIG_UNREADABLE',
      message: expect.stringMatching(/hookonce\.config\.ts:3:\d+ could not be loaded: Unexpected token/),
    })
  })

  test('an error thrown by the file says where', async () => {
    await write('hookonce.config.ts', 'const a = 1\n\nthrow new Error("no such tenant")\nexport default {}\n')
    await expect(load()).rejects.toThrow(/hookonce\.config\.ts:3:\d+ could not be loaded: no such tenant/)
  })

  test('a file with no default export is told to have one', async () => {
    await write('hookonce.config.ts', 'export const config = {}\n')
    await expect(load()).rejects.toThrow(/no default export; write export default defineConfig/)
  })
})

describe('keys', () => {
  test.each([
    ["server: { host: '127.0.0.1', port: 0, trustProxy: ['10.0.0.0/8'], admin: false, drain: 5 }"],
    [
      "server: { admin: { tokens: [{ name: 'ci', role: 'viewer', sha256: 'ab'.repeat(32) }], hosts: ['h'] } }",
    ],
    ["server: { tls: { cert: 'cert.pem', key: 'key.pem' }, publicUrl: 'https://h.example' }"],
    ['processing: { concurrency: 4, lease: 1000, retry: { maxAttempts: 3, factor: 1.5 } }'],
    ['processing: false'],
    ["limits: { bodyBytes: 100 }, migrate: false, log: 'info'"],
    [
      "retention: { payloads: '30d' }, spool: { path: 'spool.db', maxBytes: 1000 }, encryption: { current: 'a', keys: {} }",
    ],
    [
      "tracing: false, alerts: { deadLetters: { above: 5 }, notify() {} }, redact: { patterns: [/a/, 'b'], stack: true }",
    ],
    ["destinations: { app: { url: 'https://app.example/hooks', secret: () => 'whsec_x', types: ['a.*'] } }"],
    ["seen: { name: 'own', async get() { return [] }, async put() {} }"],
    ['handlers(inbox) {}'],
  ])('%s is taken', async (keys) => {
    await write('hookonce.config.mjs', withKeys(keys))
    expect((await load()).config.sources).toHaveProperty('shop')
  })

  test.each([
    ['sourcse: {}', 'sourcse is not an option; did you mean "sources"?'],
    ['proccessing: {}', 'proccessing is not an option; did you mean "processing"?'],
    ['server: { prot: 1 }', 'server.prot is not an option; did you mean "port"?'],
    ['server: { admin: { token: [] } }', 'server.admin.token is not an option; did you mean "tokens"?'],
    [
      'processing: { leese: 5, retry: { attempts: 2 } }',
      'processing.leese is not an option; did you mean "lease"?; processing.retry.attempts is not an option; known options: maxAttempts, firstDelay, factor, maxDelay',
    ],
    ["limits: { bodyBytes: '1mbb' }", 'limits.bodyBytes must be a whole number, 1 or more, not text'],
    ['server: { port: 99999 }', 'server.port must be a whole number from 0 to 65535, not 99999'],
    ['server: { trustProxy: [1] }', 'server.trustProxy[0] must be text, not 1'],
    [
      "server: { admin: { tokens: [{ name: 'a', role: 'root', sha256: 'x' }] } }",
      'server.admin.tokens[0].role must be "viewer" or "operator" or "admin" or "worker", not text; server.admin.tokens[0].sha256 must be the SHA-256 of the token as 64 hex digits, not text',
    ],
    [
      "sources: { shop: 'whsec_very_secret' }",
      'sources.shop must be made by a provider factory, such as stripe({ secret }), not text',
    ],
    [
      "log: 'loud'",
      'log must be a logger with debug, info, warn and error, or "debug" or "info" or "warn" or "error" or "silent", not text',
    ],
    [
      'store: undefined',
      'store is missing; it must be a store, or its URL (sqlite:events.db, postgres://user@host/db), or a function that returns the URL',
    ],
    ['spool: 5', 'spool must be an object, not 5'],
    [
      "destinations: { app: { ulr: 'x' } }",
      'destinations.app.ulr is not an option; did you mean "url"?; destinations.app.url is missing; it must be text',
    ],
    ['alerts: { deadLetter: {} }', 'alerts.deadLetter is not an option; did you mean "deadLetters"?'],
    ['seen: {}', 'seen must be lru() of hookonce, or redis(client) of hookonce/redis, not an object'],
    ['handlers: {}', 'handlers must be a function, not an object'],
  ])('%s: the problem is said, with where, and no value is quoted', async (keys, expected) => {
    expect(await problem(keys)).toBe(expected)
  })
})

describe('the environment', () => {
  test('goes before the file, and the token is kept as its hash', async () => {
    await write('hookonce.config.mjs', withKeys("server: { host: '::1', port: 1, admin: { session: '1h' } }"))
    const { config } = await load({
      HOOKONCE_STORE: 'sqlite:other.db',
      HOOKONCE_HOST: '0.0.0.0',
      HOOKONCE_PORT: '4999',
      HOOKONCE_ADMIN_TOKEN: 'correct-horse-battery',
    })
    const sha256 = createHash('sha256').update('correct-horse-battery').digest('hex')
    expect(config.store).toBe('sqlite:other.db')
    expect(config.server).toEqual({
      host: '0.0.0.0',
      port: 4_999,
      admin: { session: '1h', tokens: [{ name: 'environment', role: 'admin', sha256 }] },
    })
    expect(JSON.stringify(config)).not.toContain('correct-horse')
  })

  test('does not switch an admin API on that the file has switched off', async () => {
    await write('hookonce.config.mjs', withKeys('server: { admin: false }'))
    expect((await load({ HOOKONCE_ADMIN_TOKEN: 'correct-horse-battery' })).config.server).toEqual({
      admin: false,
    })
  })

  test('a port that is none and a token that can be guessed are errors, told without the token', async () => {
    expect(await problem('', { HOOKONCE_PORT: '80a', HOOKONCE_ADMIN_TOKEN: 'hunter2' })).toBe(
      'HOOKONCE_PORT must be a whole number from 0 to 65535; HOOKONCE_ADMIN_TOKEN must have 16 characters or more: openssl rand -hex 32 makes one',
    )
  })

  test('env(name) reads a secret when the source is made, and names every variable that is missing, and where it is used', async () => {
    await write(
      'hookonce.config.ts',
      `import { defineConfig, env } from 'hookonce'
import { stripe } from 'hookonce/providers'
export default defineConfig({
  store: env('TEST_CONFIG_STORE'),
  sources: { stripe: stripe({ secret: env('TEST_CONFIG_SECRET', 'TEST_CONFIG_OLD') }) },
})`,
    )
    await expect(load()).rejects.toMatchObject({
      code: 'ENV_MISSING',
      message:
        'TEST_CONFIG_SECRET is not set (used at hookonce.config.ts:5). Set it in the environment of this process, or in a file: hookonce dev reads .env, other commands take --env-file. Also not set: TEST_CONFIG_STORE (used at hookonce.config.ts:4).',
    })
    process.env.TEST_CONFIG_SECRET = 'whsec_0123456789abcdef0123456789abcdef'
    try {
      const loaded = await load()
      expect(loaded.config.sources.stripe!.secretHits).toHaveLength(1)
      await expect(inboxFromConfig(loaded)).rejects.toMatchObject({ code: 'ENV_MISSING' })
      process.env.TEST_CONFIG_OLD = 'whsec_fedcba9876543210fedcba9876543210'
      expect((await load()).config.sources.stripe!.secretHits).toHaveLength(2)
      expect(loaded.warnings).toEqual([])
    } finally {
      delete process.env.TEST_CONFIG_SECRET
      delete process.env.TEST_CONFIG_OLD
    }
  })
})

describe('a secret in the file', () => {
  test('is warned about once, with the line, and not repeated', async () => {
    await write(
      'hookonce.config.ts',
      `import { stripe, github } from 'hookonce/providers'
// secret: 'in a comment it is none'
export default {
  store: 'postgres://app:pa55word@db.example/shop',
  sources: {
    stripe: stripe({ secret: 'whsec_written_into_the_file' }),
    github: github({ secret: [
      process.env.NOT_THERE ?? 'fallback-for-development-only'] }),
  },
}`,
    )
    const loaded = await load()
    const path = join(cwd, 'hookonce.config.ts')
    expect(loaded.warnings).toEqual([
      expect.stringContaining(`${path}:4 has a secret written in it (a password in a URL)`),
      expect.stringContaining(`${path}:6 has a secret written in it (secret)`),
    ])
    expect(loaded.warnings.join()).not.toMatch(/pa55word|written_into/)
    const { inbox: other, lines } = loggedInbox({ store: 'sqlite::memory:', sources: {} })
    for (const _ of [1, 2]) {
      const inbox = await inboxFromConfig(loaded, { store: 'sqlite::memory:', log: wholeInbox(other).log })
      await inbox.stop()
    }
    expect(lines.filter((line) => line.step === 'configuration')).toHaveLength(2)
  })
})

test('every key is in docs/reference/options.md, and an error names that page', async () => {
  expect(errorTable.CONFIG_INVALID.message).toContain('docs/reference/options.md')
  const page = await readFile(new URL('../../docs/reference/options.md', import.meta.url), 'utf8')
  // A row of its own, or a member in the type of a row.
  const missing = configKeys.filter((key) => {
    const name = key.split('.').at(-1)
    return !new RegExp(`\`${name}\\??\`|\\b${name}\\??: `).test(page)
  })
  expect(missing).toEqual([])
})
