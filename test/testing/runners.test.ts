import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { installExtras } from '../../scripts/extras.mjs'

await installExtras('apps')

const folder = join(import.meta.dirname, 'runners')
const bin = join(import.meta.dirname, '../../node_modules')

const runners = {
  'node:test': ['--test', '--test-reporter=tap', join(folder, 'with-node-test.mjs')],
  jest: [
    // jest cannot require ES modules; with this option of Node it can import them.
    '--experimental-vm-modules',
    '--no-warnings',
    join(bin, 'jest/bin/jest.js'),
    '--testTimeout=60000',
    `--config=${JSON.stringify({ rootDir: folder, testMatch: ['**/with-jest.mjs'], transform: {} })}`,
  ],
}

test.each(Object.entries(runners))(
  'a test of a handler runs in %s (the others of this folder run in vitest)',
  async (_name, args) => {
    const { NODE_OPTIONS: _options, VITEST: _vitest, ...env } = process.env
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, {
      env,
      cwd: folder,
      timeout: 110_000,
    })
    expect(stdout + stderr).toContain('a paid invoice is booked once')
  },
)

test('a test of a handler is shorter than 12 lines', () => {
  for (const runner of ['node-test', 'jest']) {
    const text = readFileSync(join(folder, `with-${runner}.mjs`), 'utf8')
    const body = text.slice(text.indexOf("test('a paid")).trim().split('\n')
    expect(body.length).toBeLessThan(12)
  }
})
