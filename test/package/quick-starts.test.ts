/**
 * The quick starts, followed literally with the packed package. The packages that a page installs are links to the
 * development dependencies, so that no registry is needed; `npm run test:quick-starts` installs them for real.
 */
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { installExtras } from '../../scripts/extras.mjs'
import { follow, pages } from '../../scripts/quick-starts.mjs'
import { freshDatabase } from '../support/database.js'
import { type Packed, packPackage } from '../support/packed.js'

await installExtras('apps')

const modules = fileURLToPath(new URL('../../node_modules', import.meta.url))
/** `npm run check` builds the application of this page. */
const elsewhere = ['next']

let packed: Packed
beforeAll(async () => {
  packed = await packPackage()
})
afterAll(() => packed.remove())

test.for((await pages()).filter((page) => !elsewhere.includes(page)))(
  'the quick start "%s" works as it is written',
  async (page) => {
    const folder = await packed.project({}, ['@photostructure/sqlite', 'node-gyp-build'])
    await program('hookonce', 'hookonce/dist/cli/main.js', folder)
    const database = page === 'serverless' ? await freshDatabase() : null
    const PATH = [join(folder, 'node_modules/.bin'), process.env.PATH].join(delimiter)
    try {
      await follow(page, {
        folder,
        npx: false,
        env: { ...process.env, PATH, ...(database ? { DATABASE_URL: database.url } : {}) },
        install: (packages) => install(packages, folder),
      })
    } finally {
      await database?.drop()
    }
  },
)

test('every page of the folder is followed here or by a check', async () => {
  expect(await pages()).toEqual(expect.arrayContaining(['express', ...elsewhere]))
})

async function install(packages: readonly string[], folder: string): Promise<void> {
  for (const name of packages.filter((each) => each !== 'hookonce')) {
    const place = join(folder, 'node_modules', name)
    await mkdir(dirname(place), { recursive: true })
    await symlink(join(modules, name), place).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
    if (name === 'tsx') await program('tsx', 'tsx/dist/cli.mjs', folder)
  }
}

/** As npm makes them in `node_modules/.bin`. */
async function program(name: string, file: string, folder: string): Promise<void> {
  const place = join(folder, 'node_modules/.bin', name)
  await mkdir(dirname(place), { recursive: true })
  const script = `#!/bin/sh\nexec "${process.execPath}" "${join(folder, 'node_modules', file)}" "$@"\n`
  await writeFile(place, script, { mode: 0o755 })
}
