import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Packed, packPackage } from '../support/packed.js'

const root = join(import.meta.dirname, '../..')

let packed: Packed
beforeAll(async () => {
  packed = await packPackage()
})
afterAll(() => packed.remove())

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
