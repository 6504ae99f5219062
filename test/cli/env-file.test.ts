/** Variables from files, and one error for all variables that are missing. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Folder, freshFolder } from '../support/cli.js'

let folder: Folder
beforeEach(() => {
  folder = freshFolder()
})
afterEach(() => folder.remove())

const write = (name: string, text: string) => writeFileSync(join(folder.path, name), text)
const secret = 'whsec_0123456789abcdef0123456789abcdef'
const config = `import { defineConfig, env } from 'hookonce'
import { github, stripe } from 'hookonce/providers'
export default defineConfig({
  store: env('T_STORE'),
  sources: { stripe: stripe({ secret: env('T_STRIPE') }), github: github({ secret: env('T_GITHUB') }) },
  server: { port: 0, admin: false },
})`

test('dev reads .env in its folder; a variable that is set keeps its value', async () => {
  write('hookonce.config.ts', config)
  write(
    '.env',
    `T_STORE=sqlite:wrong.db\nT_STRIPE="${secret}"\nT_GITHUB=${secret}\nHOOKONCE_HOST=127.0.0.2\n`,
  )
  const dev = folder.start(['dev', '--json'], { T_STORE: 'sqlite:right.db' })
  const [, line = ''] = await dev.says(/^(\{"kind":"ready".*\})$/m)
  expect(JSON.parse(line)).toMatchObject({ store: expect.stringContaining('right.db'), sources: 2 })
  // Options that have a variable see the file too.
  expect(JSON.parse(line).dashboard).toContain('127.0.0.2')
  dev.signal('SIGTERM')
  const { stdout, stderr } = await dev.ended()
  expect(stdout + stderr).not.toContain(secret)
})

test('other commands read no .env, and the file of --env-file', async () => {
  write('.env', 'HOOKONCE_STORE=sqlite:unused.db\n')
  write('prod.env', 'HOOKONCE_STORE=sqlite:named.db\nHOOKONCE_SERVER=\n')
  const plain = await folder.call(['events', 'list'])
  expect(plain).toMatchObject({ code: 1, stderr: expect.stringContaining('.hookonce/events.db') })
  const named = await folder.call(['events', 'list', '--env-file', 'prod.env'])
  expect(named).toMatchObject({ code: 1, stderr: expect.stringContaining('named.db') })
  const set = await folder.call(['events', 'list', '--env-file=prod.env'], {
    HOOKONCE_STORE: 'sqlite:set.db',
  })
  expect(set).toMatchObject({ code: 1, stderr: expect.stringContaining('set.db') })
  const missing = await folder.run(['events', 'list', '--env-file', 'no-such.env'])
  // Some versions of Node read --env-file of any program themselves, and end with 9.
  expect([2, 9]).toContain(missing.code)
  expect(missing.stderr).toContain('no-such.env')
})

describe('every missing variable is named in one error', () => {
  test('also those of imported files, in several lines', async () => {
    mkdirSync(join(folder.path, 'hooks'))
    write(
      'hookonce.config.ts',
      `import { defineConfig, env } from 'hookonce'
import { payments } from './hooks/payments.js'
import { code } from './hooks/code'
export default defineConfig({ store: env(
  'T_STORE'), sources: { ...payments, ...code } })`,
    )
    const source = (name: string, key: string, variable: string) =>
      `import { env } from 'hookonce'\nimport { ${key} } from 'hookonce/providers'\nexport const ${name} = { ${key}: ${key}({ secret: env('${variable}') }) }\n// env('T_COMMENT')\n`
    write('hooks/payments.ts', source('payments', 'stripe', 'T_STRIPE'))
    write('hooks/code.ts', source('code', 'github', 'T_GITHUB'))
    const { code, stderr } = await folder.run(['serve'])
    expect(code).toBe(1)
    for (const name of ['T_STORE', 'T_STRIPE', 'T_GITHUB']) expect(stderr).toContain(name)
    expect(stderr).toContain('T_STRIPE is not set (used at payments.ts:3)')
    expect(stderr).not.toContain('T_COMMENT')
  })

  test('also those that are read after the file has run', async () => {
    write(
      'hookonce.config.ts',
      `import { defineConfig, env } from 'hookonce'
export default defineConfig({
  store: env('T_STORE'),
  sources: {},
  destinations: { app: { url: 'https://app.example.com/', secret: env('T_APP') } },
})`,
    )
    const { code, stderr } = await folder.run(['serve'])
    expect(code).toBe(1)
    expect(stderr).toContain('T_STORE is not set')
    expect(stderr).toContain('Also not set: T_APP')
  })
})
