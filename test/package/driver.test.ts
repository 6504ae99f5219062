import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Packed, packPackage } from '../support/packed.js'

const root = join(import.meta.dirname, '../..')

let packed: Packed
beforeAll(async () => {
  packed = await packPackage()
})
afterAll(() => packed.remove())

test('hookonce mcp says what to install when the SDK is missing', async () => {
  const binary = join(await packed.project({}), 'node_modules/hookonce/dist/cli/main.js')
  const child = spawn(process.execPath, [binary, 'mcp'], { cwd: await packed.elsewhere() })
  let said = ''
  child.stderr.on('data', (chunk) => (said += chunk))
  const [code] = await once(child, 'close')
  expect({ code, said }).toMatchObject({
    code: 1,
    said: expect.stringContaining('Run: npm install @modelcontextprotocol/sdk'),
  })
})

test.skipIf(process.getBuiltinModule?.('node:sqlite'))(
  'hookonce dev with nothing but the package installs its SQLite driver, and other commands find it',
  async () => {
    const binary = join(await packed.project({}), 'node_modules/hookonce/dist/cli/main.js')
    const current = await packed.elsewhere()
    const child = spawn(process.execPath, [binary, 'dev', '--port', '0'], { cwd: current })
    let said = ''
    child.stderr.on('data', (chunk) => (said += chunk))
    const closed = once(child, 'close')
    await Promise.race([vi.waitUntil(() => said.includes('hookonce is ready'), { timeout: 60_000 }), closed])
    child.kill('SIGKILL')
    await closed
    expect(said).toMatch(/has no SQLite: installing @photostructure\/sqlite@\^1[\s\S]*hookonce is ready/)
    const list = spawn(process.execPath, [binary, 'events', 'list'], { cwd: current })
    expect(await once(list, 'close')).toEqual([0, null])
  },
)

test('hookonce dev outside of the project, as npx runs it, finds the SQLite driver in the current folder', async () => {
  const installed = await packed.project({})
  const current = await packed.elsewhere()
  const place = join(current, 'node_modules/@photostructure')
  await mkdir(place, { recursive: true })
  await symlink(join(root, 'node_modules/@photostructure/sqlite'), join(place, 'sqlite'))
  const binary = join(installed, 'node_modules/hookonce/dist/cli/main.js')
  const child = spawn(process.execPath, [binary, 'dev', '--port', '0'], { cwd: current })
  let output = ''
  const ready = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        output += chunk
        if (output.includes('hookonce is ready')) resolve()
      })
  })
  const closed = once(child, 'close')
  await Promise.race([ready, closed])
  child.kill('SIGKILL')
  await closed
  expect(output).toContain('hookonce is ready')
  expect(output).not.toContain('ExperimentalWarning')
})
