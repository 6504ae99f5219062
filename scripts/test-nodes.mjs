/**
 * `npm run test:nodes`: the packed package on each version of Node that `engines` names, first and newest of each line.
 * Each version imports and requires every subpath, handles an event on SQLite, and runs `npx hookonce dev` in a
 * clean folder. Nothing may print a warning.
 */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { installNode, npm } from './node-versions.mjs'

const run = promisify(execFile)
const root = fileURLToPath(new URL('..', import.meta.url))
/** The first version of each line in `engines`, and the newest. */
const wanted =
  process.argv.length > 2 ? process.argv.slice(2) : ['20.19.0', '20', '22.13.0', '22', '24.0.0', '24', '26']

const program = `
const { createInbox } = await load('hookonce')
const { stripe } = await load('hookonce/providers')
const { sqlite } = await load('hookonce/sqlite')
const source = stripe({ secret: 'whsec_0123456789abcdef' })
const inbox = createInbox({ store: sqlite('events.db'), sources: { stripe: source } })
const handled = new Promise((resolve) => inbox.on('stripe', '*', (event) => resolve(event.id)))
await inbox.start()
const body = Buffer.from(JSON.stringify({ id: 'evt_' + process.argv[2], type: 'invoice.paid' }))
const receipt = await inbox.receive('stripe', await source.sign({ body, now: Date.now() }))
console.log(receipt.status, await handled)
await inbox.stop()
`

const pkg = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
const subpaths = Object.keys(pkg.exports).filter((name) => name !== './package.json')
const every = subpaths.map((name) => `await load('hookonce${name.slice(1)}')\n`).join('')
const home = await mkdtemp(join(tmpdir(), 'hookonce-nodes-'))
let failed = false
try {
  await run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', home], { cwd: root })
  const tarball = join(home, (await readdir(home)).find((name) => name.endsWith('.tgz')) ?? '')
  for (const version of wanted) {
    try {
      console.log(`ok   Node ${await testVersion(version, tarball)}`)
    } catch (error) {
      failed = true
      console.log(`FAIL Node ${version}: ${error instanceof Error ? error.message : error}`)
    }
  }
} finally {
  await rm(home, { recursive: true, force: true })
}
process.exitCode = failed ? 1 : 0

/**
 * @param {string} version
 * @param {string} tarball
 */
async function testVersion(version, tarball) {
  const bin = await installNode(version)
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` }
  const node = join(bin, process.platform === 'win32' ? 'node.exe' : 'node')
  const exact = (await run(node, ['--version'])).stdout.trim().slice(1)
  const folder = await mkdtemp(join(home, 'app-'))
  await writeFile(join(folder, 'package.json'), '{ "private": true }')
  await npm(folder, env, ['install', tarball])

  // As a new user: nothing else is installed. On Node 20 it installs its SQLite driver.
  assert.match(await dev(node, folder, env), /hookonce is ready/)

  await npm(folder, env, ['install', 'pg', 'express', 'fastify'])
  const files = {
    'import.mjs': `const load = (name) => import(name)\n${every}${program}`,
    'require.cjs': `const load = require\n;(async () => {\n${every}${program}\n})()`,
  }
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(folder, name), text)
    const [id = ''] = name.split('.')
    const { stdout, stderr } = await run(node, [name, id], { cwd: folder, timeout: 60_000 })
    assert.equal(stdout, `accepted evt_${id}\n`, name)
    assert.equal(stderr, '', name)
  }
  return exact
}

/**
 * The output of `hookonce dev` until it is ready or has ended.
 * @param {string} node
 * @param {string} cwd
 * @param {NodeJS.ProcessEnv} env
 */
async function dev(node, cwd, env) {
  const binary = join(cwd, 'node_modules/hookonce/dist/cli/main.js')
  const child = spawn(node, [binary, 'dev', '--port', '0'], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  const closed = new Promise((resolve) => child.once('close', resolve))
  /** @type {Promise<void>} */
  const ready = new Promise((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        output += chunk
        if (output.includes('hookonce is ready')) resolve()
      })
  })
  await Promise.race([ready, closed])
  child.kill('SIGKILL')
  await closed
  assert(!output.includes('Warning'), `hookonce dev warned:\n${output}`)
  return output
}
