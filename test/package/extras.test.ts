/** `installExtras` in a small repository, with a program `npm` that counts its calls. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
let home: string
let group: string

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'hookonce-extras-'))
  group = join(home, 'extras/queues')
  for (const folder of ['bin', 'scripts', 'extras/queues', 'node_modules/@photostructure'])
    mkdirSync(join(home, folder), { recursive: true })
  symlinkSync(
    join(root, 'node_modules/@photostructure/sqlite'),
    join(home, 'node_modules/@photostructure/sqlite'),
  )
  cpSync(join(root, 'scripts/extras.mjs'), join(home, 'scripts/extras.mjs'))
  writeFileSync(join(home, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(group, 'package.json'), '{ "dependencies": { "@a/one": "1", "two": "1" } }')
  writeFileSync(join(group, 'package-lock.json'), '{}')
  npm(`
    rm -rf node_modules
    mkdir -p node_modules/@a/one node_modules/two
    echo '{}' > node_modules/@a/one/package.json
    echo '{ "main": "two.js" }' > node_modules/two/package.json
    echo 'module.exports = 2' > node_modules/two/two.js`)
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

function npm(script: string): void {
  writeFileSync(join(home, 'bin/npm'), `#!/bin/sh\necho called >> '${home}/calls'\n${script}\n`)
  chmodSync(join(home, 'bin/npm'), 0o755)
}

const program = `
  import { installExtras } from './scripts/extras.mjs'
  await installExtras('queues')
  console.log((await import('two')).default)`
const environment = () => ({
  ...process.env,
  PATH: [join(home, 'bin'), process.env.PATH].join(delimiter),
})

async function use(): Promise<string> {
  const args = ['--input-type=module', '--eval', program]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: home, env: environment() })
  return stdout
}

const calls = () => readFileSync(join(home, 'calls'), 'utf8').match(/called/g)?.length

test('processes that ask at once install a group once, and each can import its packages', async () => {
  expect(await Promise.all([use(), use(), use()])).toEqual(['2\n', '2\n', '2\n'])
  expect(await use()).toBe('2\n')
  expect(calls()).toBe(1)
})

test('a group is linked again without an install when npm ci has removed the links', async () => {
  await use()
  rmSync(join(home, 'node_modules/two'))
  rmSync(join(home, 'node_modules/@a'), { recursive: true })
  expect(await use()).toBe('2\n')
  expect(calls()).toBe(1)
})

test('a group is installed again when a package is gone or the lock file has changed', async () => {
  await use()
  rmSync(join(group, 'node_modules/two'), { recursive: true })
  expect(await use()).toBe('2\n')
  writeFileSync(join(group, 'package-lock.json'), '{ "changed": true }')
  expect(await use()).toBe('2\n')
  expect(calls()).toBe(3)
})

test('a failed install says which group it was and what npm printed', async () => {
  npm('echo no route to the registry >&2; exit 1')
  await expect(use()).rejects.toThrow(/extras\/queues could not be installed[\s\S]*no route to the registry/)
})

test('an install that was killed is repeated by the next process', async () => {
  const whole = readFileSync(join(home, 'bin/npm'), 'utf8')
  npm(
    `mkdir -p node_modules/two; echo '{}' > node_modules/two/package.json; echo $$ > '${home}/pid'; exec sleep 600`,
  )
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: home,
    env: environment(),
    stdio: 'ignore',
  })
  await expect
    .poll(() => existsSync(join(home, 'pid')) && readFileSync(join(home, 'pid'), 'utf8'))
    .toMatch(/\d+\n/)
  child.kill('SIGKILL')
  await once(child, 'exit')
  process.kill(Number(readFileSync(join(home, 'pid'), 'utf8')), 'SIGKILL')
  writeFileSync(join(home, 'bin/npm'), whole)
  expect(await use()).toBe('2\n')
})
