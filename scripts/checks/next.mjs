/**
 * The packed package in a Next.js application: the files of docs/quick-start/next.md are built by `next build`, and one event is
 * sent to `next start`. The application has none of the optional packages but the SQLite driver. It takes 20 seconds of
 * a core, so it is a check and not a test.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { extraPath, installExtras } from '../extras.mjs'
import { read, root } from './run.mjs'

const run = promisify(execFile)
const secret = 'whsec_0123456789abcdef'
const environment = { ...process.env, STRIPE_WEBHOOK_SECRET: secret, NEXT_TELEMETRY_DISABLED: '1' }

export const nextBuild = {
  name: 'next build',
  async run() {
    await installExtras('apps')
    const project = await mkdtemp(join(tmpdir(), 'hookonce-next-'))
    try {
      await writeProject(project)
      const next = join(project, 'node_modules/next/dist/bin/next')
      await run(process.execPath, [next, 'build'], { cwd: project, env: environment, timeout: 300_000 })
      return await deliverTo(project, next)
    } catch (error) {
      const { stdout = '', stderr = '', message } = /** @type {any} */ (error)
      return [`${message}\n${stdout}${stderr}`.slice(0, 5_000)]
    } finally {
      await rm(project, { recursive: true, force: true })
    }
  },
}

/** @param {string} project */
async function writeProject(project) {
  const { dependencies } = JSON.parse(await read('package.json'))
  const installed = new Set()
  for (const name of ['next', 'react', 'react-dom', '@photostructure/sqlite', ...Object.keys(dependencies)])
    await install(name, project, installed)
  await run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', project], { cwd: root })
  const tarball = (await readdir(project)).find((name) => name.endsWith('.tgz')) ?? ''
  await mkdir(join(project, 'node_modules/hookonce'))
  await run('tar', ['xzf', tarball, '-C', 'node_modules/hookonce', '--strip-components=1'], { cwd: project })
  const text = await read('docs/quick-start/next.md')
  const files = [...text.matchAll(/^```ts (\S+)\n([\s\S]*?)^```/gm)].map(([, name = '', code = '']) => [
    // They are valid JavaScript, too; TypeScript would have to be installed in the application.
    name.replace(/\.ts$/, '.js'),
    code,
  ])
  if (files.length === 0) throw new Error('docs/quick-start/next.md has no files of a Next.js application')
  files.push(['package.json', '{ "private": true, "type": "module" }'])
  files.push(['app/layout.js', 'export default function Layout({ children }) { return children }'])
  for (const [name = '', code = ''] of files) {
    await mkdir(dirname(join(project, name)), { recursive: true })
    await writeFile(join(project, name), code)
  }
}

/**
 * Copies a package and what it depends on. Next.js refuses links that lead out of the application.
 * @param {string} name
 * @param {string} project
 * @param {Set<string>} installed
 */
async function install(name, project, installed) {
  const from = [extraPath('apps', name), join(root, 'node_modules', name)].find((path) => existsSync(path))
  if (installed.has(name) || from === undefined) return
  installed.add(name)
  await cp(from, join(project, 'node_modules', name), { recursive: true })
  const pkg = JSON.parse(await readFile(join(from, 'package.json'), 'utf8'))
  const binaries = Object.keys(pkg.optionalDependencies ?? {}).filter((other) => other.startsWith('@next/'))
  for (const other of [...Object.keys(pkg.dependencies ?? {}), ...binaries])
    await install(other, project, installed)
}

/**
 * @param {string} project
 * @param {string} next
 */
async function deliverTo(project, next) {
  const server = spawn(process.execPath, [next, 'start', '--port', '0'], { cwd: project, env: environment })
  let output = ''
  for (const stream of [server.stdout, server.stderr]) stream.on('data', (chunk) => (output += chunk))
  /** @param {RegExp} pattern */
  const says = async (pattern) => {
    const until = Date.now() + 60_000
    while (Date.now() < until && server.exitCode === null) {
      const match = pattern.exec(output)
      if (match) return match
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    throw new Error(`next start did not print ${pattern}:\n${output}`)
  }
  try {
    const [, url] = await says(/(http:\/\/localhost:\d+)/)
    await says(/Ready/)
    const { stripe } = await import(join(root, 'dist/providers/index.js'))
    const body = JSON.stringify({ id: 'evt_1', type: 'invoice.paid', data: { object: { id: 'in_1' } } })
    const { headers } = await stripe({ secret }).sign({ body, now: Date.now() })
    const answer = await fetch(`${url}/webhooks/stripe`, { method: 'POST', headers, body })
    const text = await answer.text()
    if (!text.includes('"status":"accepted"')) return [`the answer was ${answer.status} ${text}\n${output}`]
    await says(/paid: in_1/)
    return []
  } finally {
    server.kill('SIGKILL')
    await once(server, 'close')
  }
}
