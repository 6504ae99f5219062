/**
 * The packed package in a Next.js application with the files of docs/quick-start/next.md. `next build` runs without secrets.
 * In `next start` a route pauses the handlers that `instrumentation` started. In `next dev` an edited handler is used. The
 * application has none of the optional packages but the SQLite driver. It takes a minute of a core, so it is a check and
 * not a test.
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
      const { STRIPE_WEBHOOK_SECRET: _, ...withoutSecret } = environment
      await run(process.execPath, [next, 'build'], { cwd: project, env: withoutSecret, timeout: 300_000 })
      await serving(project, [next, 'start'], pauses)
      await serving(project, [next, 'dev'], (app) => reloads(app, join(project, 'lib/inbox.js')))
      return []
    } catch (error) {
      const { stdout = '', stderr = '', message } = /** @type {any} */ (error)
      return [`${message}\n${stdout}${stderr}`.slice(0, 5_000)]
    } finally {
      await rm(project, { recursive: true, force: true })
    }
  },
}

const adminRoute = `import { inbox } from '../../../lib/inbox'
export async function POST(request, { params }) {
  await inbox()[(await params).verb]('stripe')
  return new Response()
}
`

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
  files.push(['app/admin/[verb]/route.js', adminRoute])
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

/** @typedef {{ post(path: string): Promise<void>, deliver(id: string): Promise<void>, says(pattern: RegExp): Promise<RegExpExecArray>, output(): string }} App */

/**
 * @param {string} project
 * @param {string[]} command
 * @param {(app: App) => Promise<void>} use
 */
async function serving(project, command, use) {
  const server = spawn(process.execPath, [...command, '--port', '0'], {
    cwd: project,
    env: environment,
    detached: true,
  })
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
    throw new Error(`${command.at(-1)} did not print ${pattern}:\n${output}`)
  }
  try {
    const [, url] = await says(/(http:\/\/localhost:\d+)/)
    await says(/Ready/)
    const { stripe } = await import(join(root, 'dist/providers/index.js'))
    /** @param {string} path @param {RequestInit} [init] */
    const post = async (path, init) => {
      const answer = await fetch(`${url}${path}`, { method: 'POST', ...init })
      if (!answer.ok)
        throw new Error(`${path} was answered ${answer.status} ${await answer.text()}\n${output}`)
    }
    /** @param {string} id */
    const deliver = async (id) => {
      const body = JSON.stringify({ id: `evt_${id}`, type: 'invoice.paid', data: { object: { id } } })
      const { headers } = await stripe({ secret }).sign({ body, now: Date.now() })
      await post('/webhooks/stripe', { headers, body })
    }
    await use({ post, deliver, says, output: () => output })
    if (output.includes('another inbox')) throw new Error(`There are two inboxes:\n${output}`)
  } finally {
    // The group: `next dev` has processes of its own, which hold the pipes open.
    process.kill(-Number(server.pid), 'SIGKILL')
    await once(server, 'close')
  }
}

/** The route of the administrator and `instrumentation` have the same inbox. @param {App} app */
async function pauses({ post, deliver, says, output }) {
  await deliver('in_1')
  await says(/paid: in_1/)
  await post('/admin/pause')
  await deliver('in_2')
  // A handler that was not paused would take less.
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  if (output().includes('paid: in_2')) throw new Error(`The handler was not paused:\n${output()}`)
  await post('/admin/resume')
  await says(/paid: in_2/)
}

/** @param {App} app @param {string} file */
async function reloads({ post, deliver, says, output }, file) {
  await deliver('in_3')
  await says(/paid: in_3/)
  await post('/admin/resume') // another bundle
  const text = await readFile(file, 'utf8')
  await writeFile(file, text.replace('paid:', 'edited:'))
  for (let i = 4; i < 30; i++) {
    await deliver(`in_${i}`)
    await says(new RegExp(`(paid|edited): in_${i}\\b`))
    if (output().includes('edited: in_')) return
  }
  throw new Error('The edited handler is not used.')
}
