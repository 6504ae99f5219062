import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build as esbuild } from 'esbuild'
import { build as vite } from 'vite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Packed, packPackage } from '../support/packed.js'

const run = promisify(execFile)

/** Node 20 has no SQLite of its own. A bundle cannot hold a native addon, so it is installed beside it. */
const sqliteDriver = ['@photostructure/sqlite', 'node-gyp-build']

/** Delivers one event to itself, and prints the answer, the handled event and its state. */
const app = `
import { createInbox } from 'hookonce'
import { stripe } from 'hookonce/providers'
import { sqlite } from 'hookonce/sqlite'

async function main() {
  const source = stripe({ secret: 'whsec_0123456789abcdef' })
  const inbox = createInbox({ store: sqlite('events.db'), sources: { stripe: source }, spool: { path: 'spool.db' } })
  const handled = new Promise((resolve) => inbox.on('stripe', '*', (event) => resolve(event.id)))
  await inbox.start()
  const body = Buffer.from(JSON.stringify({ id: 'evt_1', type: 'invoice.paid', data: { object: { id: 'in_1' } } }))
  const delivery = await source.sign({ body, now: Date.now() })
  const receipt = await inbox.receive('stripe', delivery)
  console.log(receipt.status, await handled, (await inbox.spool.status()).depth)
  await inbox.stop()
}
main()
`

let packed: Packed
beforeAll(async () => {
  packed = await packPackage()
})
afterAll(() => packed.remove())

test.each(['esm', 'cjs'] as const)(
  'a bundle of esbuild (%s) records and handles an event',
  async (format) => {
    const project = await packed.project({ 'app.mjs': app })
    const place = await packed.elsewhere(sqliteDriver)
    const outfile = join(place, format === 'esm' ? 'bundle.mjs' : 'bundle.cjs')
    await esbuild({
      ...{ absWorkingDir: project, entryPoints: ['app.mjs'], outfile, format },
      ...{ bundle: true, platform: 'node', target: 'node20', logLevel: 'silent' },
    })
    await expectHandled(place, outfile)
  },
)

test('a bundle of Vite for servers records and handles an event', async () => {
  const project = await packed.project({ 'app.mjs': app })
  const place = await packed.elsewhere(sqliteDriver)
  await vite({
    ...{ root: project, configFile: false, logLevel: 'silent' },
    ssr: { noExternal: true },
    build: { ssr: 'app.mjs', outDir: place, emptyOutDir: false },
  })
  await expectHandled(place, join(place, 'app.mjs'))
})

test('createInbox brings no store and no archive into a bundle', async () => {
  const project = await packed.project({ 'app.mjs': "export { createInbox } from 'hookonce'" })
  const { metafile } = await esbuild({
    ...{ absWorkingDir: project, entryPoints: ['app.mjs'], metafile: true, write: false },
    ...{ bundle: true, platform: 'node', format: 'esm', logLevel: 'silent' },
  })
  const inputs = Object.keys(metafile.inputs).map((path) => path.replace(/.*node_modules\//, ''))
  const unwanted = inputs.filter((path) => /\/stores\/|\/archive\/|^(?!hookonce\/)/.test(path))
  // The spool is a SQLite file of its own. The small file of archive targets says how to find the rest.
  expect(unwanted.sort()).toEqual([
    'app.mjs',
    'hookonce/dist/retention/archive/target.js',
    'hookonce/dist/stores/sqlite/exit-gate.js',
    'hookonce/dist/stores/sqlite/failure.js',
    'hookonce/dist/stores/sqlite/thread-calls.js',
  ])
})

async function expectHandled(cwd: string, program: string): Promise<void> {
  const { stdout } = await run(process.execPath, [program], { cwd, timeout: 60_000 })
  expect(stdout).toBe('accepted evt_1 0\n')
}
