/** The types of the package, checked as a project with `skipLibCheck: false` checks them. */
import { execFile } from 'node:child_process'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import pkg from '../../package.json' with { type: 'json' }
import { type Packed, packPackage } from '../support/packed.js'

const run = promisify(execFile)
const tsc = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url))
let packed: Packed
beforeAll(async () => {
  packed = await packPackage()
})
afterAll(() => packed.remove())

/** Payload types of providers need the packages of those providers. */
const parts = Object.keys(pkg.exports).filter((part) => !/^\.\/(types\/|package)/.test(part))
const program = parts
  .map((part, i) => `export * as part${i} from '${part.replace('.', 'hookonce')}'`)
  .join('\n')
const tsconfig = JSON.stringify({
  compilerOptions: {
    ...{ module: 'nodenext', target: 'es2023', lib: ['es2023', 'esnext.disposable'], types: ['node'] },
    ...{ strict: true, exactOptionalPropertyTypes: true, noEmit: true, skipLibCheck: false },
  },
  include: ['program.ts'],
})

async function problemsWith(types: string | null): Promise<string> {
  const project = await packed.project({ 'program.ts': program, 'tsconfig.json': tsconfig }, [
    '@types/node',
    'undici-types',
    '@types/pg',
    'pg-types',
    'pg-protocol',
    '@opentelemetry/api',
  ])
  if (types !== null) {
    for (const name of ['@types/node', 'undici-types']) {
      await rm(join(project, 'node_modules', name))
      await cp(join(types, 'node_modules', name), join(project, 'node_modules', name), { recursive: true })
    }
  }
  const options = ['-p', project, '--preserveSymlinks']
  const { stdout } = await run(process.execPath, [tsc, ...options], { cwd: project }).catch((error) => error)
  return stdout
}

test('compile with the types of the oldest Node', async () => {
  expect(await problemsWith(null)).toBe('')
})

test('compile with the newest types of Node', async () => {
  const home = await mkdtemp(join(tmpdir(), 'hookonce-types-'))
  try {
    await run('npm', ['install', '--silent', '--no-audit', '--prefix', home, '@types/node@latest'], {
      cwd: home,
    })
    expect(await problemsWith(home)).toBe('')
  } finally {
    await rm(home, { recursive: true, force: true })
  }
})
