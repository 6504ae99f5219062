/** What runs in production: serve, worker and dev from a configuration file, and the schema. */
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Folder, freshFolder } from '../support/cli.js'

let folder: Folder
beforeAll(() => {
  folder = freshFolder()
})
afterAll(() => folder.remove())

const env = { STRIPE_SECRET: 'a secret that is long enough', HOOKONCE_ADMIN_TOKEN: 'admin-token-0123456789' }

function writeConfig(note: string, server = '{ port: 0 }'): void {
  writeFileSync(
    join(folder.path, 'hookonce.config.ts'),
    `import { appendFileSync } from 'node:fs'
import { defineConfig, env } from 'hookonce'
import { stripe } from 'hookonce/providers'

export default defineConfig({
  store: 'sqlite:shop.db',
  sources: { shop: stripe({ secret: env('STRIPE_SECRET') }) },
  handlers(inbox) {
    setInterval(() => {}, 60_000) // what a user's program leaves open must not keep a command from ending
    inbox.on('shop', 'invoice.*', async (event) => appendFileSync('handled.log', \`${note} \${event.id}\\n\`))
  },
  server: ${server},
})
`,
  )
}
const handled = () => readFileSync(join(folder.path, 'handled.log'), 'utf8')

test('without a configuration they say so', async () => {
  for (const command of ['serve', 'worker']) {
    const { code, stderr, stdout } = await folder.call([command])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('There is no hookonce.config.ts in this folder.')
  }
})

test('migrate up makes the log, and again does nothing; sql can be run as it is', async () => {
  const store = ['--store', 'sqlite:made.db', '--json']
  const first = await folder.call(['migrate', 'up', ...store])
  expect(first.code).toBe(0)
  const { to } = JSON.parse(first.stdout)
  expect(JSON.parse((await folder.call(['migrate', 'up', ...store])).stdout)).toEqual({
    store: 'sqlite:made.db',
    from: to,
    to,
    applied: [],
  })
  const sql = await folder.call(['migrate', 'sql', '--schema', 'webhooks'])
  expect(sql.stdout).toMatch(new RegExp(`insert into "webhooks".migrations \\(.*\\) values \\(${to},`))
})

test('serve receives, worker handles, and both end when told to', async () => {
  writeConfig('first')
  const server = folder.start(['serve', '--receive-only', '--json'], env)
  const { url, sources, handles } = JSON.parse((await server.says(/^\{.*\}\n/))[0])
  expect({ sources, handles }).toEqual({ sources: ['shop'], handles: false })
  const sent = await folder.run(['send', 'shop', '--id', 'evt_1', '--times', '3', '--to', url, '--json'], env)
  expect(JSON.parse(sent.stdout)).toMatchObject({ recorded: 1, duplicates: 2, url: `${url}/webhooks/shop` })

  const listed = await folder.call(['events', 'list', '--server', url, '--json'], {
    HOOKONCE_TOKEN: env.HOOKONCE_ADMIN_TOKEN,
  })
  expect(JSON.parse(listed.stdout).events).toMatchObject([{ id: 'evt_1', state: 'pending' }])

  const worker = folder.start(['worker', '--json'], env)
  await worker.says(/"kind":"ready"/)
  await expect.poll(handled).toBe('first evt_1\n')
  worker.signal('SIGTERM')
  server.signal('SIGTERM')
  expect(await worker.ended()).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('stopping (SIGTERM)'),
  })
  expect(await server.ended()).toMatchObject({ code: 0 })
  // The store of the configuration is the one other commands look at.
  const after = await folder.run(['events', 'list', '--json'], env)
  expect(JSON.parse(after.stdout).events).toMatchObject([{ id: 'evt_1', state: 'succeeded', deliveries: 3 }])
})

test('dev follows its configuration, and keeps the one before when the new one is broken', async () => {
  writeConfig('second')
  const dev = folder.start(['dev', '--json'], env)
  const { intake, secret } = JSON.parse((await dev.says(/^\{"kind":"ready".*\}\n/))[0])
  expect(secret).toBe(null)
  const to = new URL(intake).origin
  const send = (id: string) => folder.run(['send', 'shop', '--id', id, '--to', to], env)
  await send('evt_2')
  await expect.poll(handled).toContain('second evt_2\n')
  writeFileSync(join(folder.path, 'hookonce.config.ts'), 'export default { stor: 1 }')
  await dev.says(/the new configuration is invalid, the old one stays in use: /)
  writeConfig('third')
  await dev.says(/the changed configuration is in use/)
  expect((await send('evt_3')).stdout).toContain('1 recorded')
  await expect.poll(handled).toContain('third evt_3\n')
  await dev.says(/"eventId":"evt_3","verdict":"recorded"/)
  dev.signal('SIGINT')
  expect((await dev.ended()).code).toBe(0)
})

describe('it says what to do when', () => {
  test('a secret is not in the environment, or a source is not in the configuration', async () => {
    const missing = await folder.run(['serve'])
    expect(missing).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('STRIPE_SECRET') })
    expect(missing.stderr).not.toMatch(/\n\s+at /)
    expect(await folder.run(['send', 'stripe'], env)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('(known: shop)'),
    })
  })

  test('the address needs a token', async () => {
    writeConfig('exposed', '{ port: 0 }')
    const { code, stderr } = await folder.run(['serve', '--host', '0.0.0.0', '--port', '0'], {
      STRIPE_SECRET: env.STRIPE_SECRET,
    })
    expect(code).toBe(1)
    expect(stderr).toContain('HOOKONCE_ADMIN_TOKEN')
  })
})

test('token create gives a token once, and what the configuration must know of it', async () => {
  const { stdout, code } = await folder.call([
    'token',
    'create',
    '--name',
    'ada',
    '--role',
    'operator',
    '--expires',
    '90d',
    '--json',
  ])
  expect(code).toBe(0)
  const { token, entry } = JSON.parse(stdout)
  expect(entry).toEqual({
    name: 'ada',
    role: 'operator',
    sha256: createHash('sha256').update(token).digest('hex'),
    expiresAt: expect.stringMatching(/^\d{4}-/),
  })
  expect(await folder.call(['token', 'create', '--name', 'a b', '--role', 'admin'])).toMatchObject({
    code: 2,
    stdout: '',
  })
  expect(await folder.call(['token', 'create', '--name', 'a'])).toMatchObject({ code: 2, stdout: '' })
})

describe('a server whose store is away when it starts', () => {
  const away = freshFolder()
  afterAll(() => away.remove())

  test('takes deliveries into its spool, and a worker beside it waits', async () => {
    writeFileSync(
      join(away.path, 'hookonce.config.ts'),
      `import { defineConfig, env } from 'hookonce'
import { stripe } from 'hookonce/providers'

export default defineConfig({
  store: 'postgres://nobody@127.0.0.1:1/nothing',
  sources: { shop: stripe({ secret: env('STRIPE_SECRET') }) },
  destinations: { billing: { url: 'https://billing.example/', secret: 'whsec_${Buffer.alloc(24).toString('base64')}' } },
  spool: { path: 'spool.db' },
  server: { port: 0 },
})
`,
    )
    const server = away.start(['serve', '--json'], env)
    const { url, store } = JSON.parse((await server.says(/^\{"kind.*\}$/m))[0])
    expect(store).toBeNull()
    const sent = await away.run(['send', 'shop', '--id', 'evt_1', '--to', url, '--json'], env)
    expect(JSON.parse(sent.stdout)).toMatchObject({
      recorded: 0,
      spooled: 1,
      httpStatuses: { 202: 1 },
    })
    const seen = await away.run(['doctor', '--json'], env)
    const { findings } = JSON.parse(seen.stdout) as { findings: { name: string; value: string }[] }
    expect(findings.find(({ name }) => name === 'spool')?.value).toMatch(
      /^1 delivery waits, \d+ of 268435456 bytes/,
    )
    const worker = away.start(['worker'], env)
    await worker.says(/hookonce worker runs; store: not reachable now/)
    for (const one of [server, worker]) {
      one.signal('SIGTERM')
      expect((await one.ended()).code).toBe(0)
    }
  })
})

test('serve outlives a promise that a handler does not await, and says which event it was', async () => {
  const own = freshFolder()
  try {
    writeFileSync(
      join(own.path, 'hookonce.config.ts'),
      `import { appendFileSync } from 'node:fs'
import { defineConfig, env } from 'hookonce'
import { stripe } from 'hookonce/providers'

export default defineConfig({
  store: 'sqlite:shop.db',
  sources: { shop: stripe({ secret: env('STRIPE_SECRET') }) },
  handlers(inbox) {
    inbox.on('shop', '*', async (event, ctx) => {
      if (event.id === 'evt_tx') void ctx.tx.run('insert into no_such_table values (1)')
      if (event.id === 'evt_own') {
        void (async () => JSON.parse('private words'))()
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      appendFileSync('handled.log', \`\${event.id}\\n\`)
    }, { retry: { maxAttempts: 1 } })
  },
  server: { port: 0 },
})
`,
    )
    const server = own.start(['serve', '--json'], env)
    const { url } = JSON.parse((await server.says(/^\{.*\}\n/))[0])
    for (const id of ['evt_tx', 'evt_own', 'evt_last']) {
      await own.run(['send', 'shop', '--id', id, '--to', url], env)
      await expect.poll(() => readFileSync(join(own.path, 'handled.log'), 'utf8')).toContain(id)
    }
    await server.says(/"eventId":"evt_tx".*was not awaited/)
    await server.says(/"events":"shop\/evt_own".*was not awaited/)
    expect(server.stderr).not.toContain('private words')
    server.signal('SIGTERM')
    expect((await server.ended()).code).toBe(0)
  } finally {
    await own.remove()
  }
})
