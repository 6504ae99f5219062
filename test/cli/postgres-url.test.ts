/** The address of a PostgreSQL store: what `postgres()` refuses, and an address from the environment of a server process. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { postgres } from 'hookonce/postgres'
import { expect, test } from 'vitest'
import { freshFolder } from '../support/cli.js'
import { migratedDatabase } from '../support/database.js'
import { afterwards } from '../support/serving.js'

test.each<[unknown, string]>([
  [{ url: 5 }, 'postgres(options).url must be text, or a function that returns it, not 5.'],
  [{ url: () => 5 }, 'The store URL is of type number'],
  [{ url: () => undefined }, 'The store URL is undefined'],
  [{ url: () => ['postgres://a/b'] }, 'The store URL is a list'],
  [{ url: null }, 'postgres(options).url must be text, or a function that returns it, not null.'],
  [{ url: '' }, 'The store URL is empty; set it to the address of the database'],
  [{ url: () => ' ' }, 'The store URL is empty'],
  ['', 'The store URL is empty'],
  [{ url: 'mysql://root@db/shop' }, 'The store URL begins with mysql:; it must begin with postgres://'],
  [{ url: 'https://db/shop' }, 'The store URL begins with https:'],
  [{ url: 'localhost:5432/shop' }, 'The store URL begins with localhost:; it must begin with postgres://'],
  [{ url: 'postgres://db/shop', directUrl: 'mysql://db/shop' }, '`directUrl` begins with mysql:'],
  [{ url: 'postgres://db/shop', directUrl: '' }, '`directUrl` is empty'],
  [{}, 'postgres() needs either `url` or `pool`'],
])('postgres(%o) is refused', (options, message) => {
  expect(() => postgres(options as never)).toThrow(message)
})

test.each(['postgres://db/shop', 'postgresql://db/shop', 'socket:/var/run/postgresql/?db=shop'])(
  'postgres(%o) is accepted',
  async (url) => {
    await postgres({ url: () => url }).close()
  },
)

test('a server takes the address from its environment, and names the variable when it is missing or wrong', async () => {
  const database = await migratedDatabase()
  const folder = freshFolder()
  afterwards(async () => {
    await folder.remove()
    await database.drop()
  })
  writeFileSync(
    join(folder.path, 'hookonce.config.ts'),
    `import { defineConfig, env } from 'hookonce'
import { postgres } from 'hookonce/postgres'
import { unverified } from 'hookonce/providers'

export default defineConfig({
  store: postgres({ url: env('DATABASE_URL'), schema: 'log' }),
  sources: { shop: unverified({ id: 'json:id', type: 'json:type' }) },
  handlers(inbox) {
    inbox.on('shop', '*', (event, ctx) => ctx.tx.query('insert into log_user.effects (value) values ($1)', [event.id]))
  },
  server: { port: 0 },
})
`,
  )
  const missing = await folder.run(['serve'])
  expect(missing).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('DATABASE_URL') })
  const wrong = await folder.run(['serve'], { DATABASE_URL: 'mysql://root@db/shop' })
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('must begin with postgres://') })
  expect(wrong.stderr).not.toMatch(/\n\s+at /)

  const server = folder.start(['serve', '--json'], { DATABASE_URL: database.url })
  const { url } = JSON.parse((await server.says(/^\{.*"url".*\}\n/m))[0])
  const answer = await fetch(`${url}/webhooks/shop`, {
    method: 'POST',
    body: JSON.stringify({ id: 'evt_1', type: 'order.paid' }),
  })
  expect(answer.status).toBe(200)
  const store = postgres({ url: database.url, schema: 'log' })
  afterwards(() => store.close())
  await expect.poll(async () => (await store.get({ source: 'shop', id: 'evt_1' }))?.state).toBe('succeeded')
  server.signal('SIGTERM')
  expect((await server.ended()).code).toBe(0)
})
