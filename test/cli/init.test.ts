/** `hookonce init` in empty projects with the packed package: the test that it writes passes, and the app works. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { senderOf } from '#dist/cli/init/sender.js'
import { catalogue, type ProviderFactory } from '#dist/providers/index.js'
import { installExtras } from '../../scripts/extras.mjs'
import { freePort } from '../support/free-port.js'
import { type Packed, packPackage } from '../support/packed.js'

await installExtras('apps')

const run = promisify(execFile)
const tsc = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url))
const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url))

const packages = [
  ...[
    '@hono/node-server',
    '@nestjs/common',
    '@nestjs/core',
    '@nestjs/platform-express',
    '@photostructure/sqlite',
  ],
  ...[
    '@types/express',
    '@types/node',
    '@types/pg',
    'drizzle-orm',
    'express',
    'fastify',
    'knex',
    'kysely',
    'next',
  ],
  ...['node-gyp-build', 'pg', 'react', 'reflect-metadata', 'rxjs', 'tsx', 'vitest'],
]

/** The projects are folders of one, so that the package is unpacked once. Each has its own package.json. */
let packed: Packed
let home: string
beforeAll(async () => {
  packed = await packPackage()
  home = await packed.project({}, packages)
})
afterAll(() => packed.remove())

interface Manifest {
  readonly type?: 'module'
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

let count = 0
async function project(
  manifest: Manifest | null,
  files: Readonly<Record<string, string>> = {},
): Promise<string> {
  const folder = join(home, `project-${count++}`)
  const text = manifest === null ? {} : { 'package.json': JSON.stringify({ name: 'shop', ...manifest }) }
  for (const [name, content] of Object.entries({ '.gitignore': '', ...text, ...files })) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
  return folder
}

async function hookonce(folder: string, ...args: string[]) {
  const main = join(home, 'node_modules/hookonce/dist/cli/main.js')
  return run(process.execPath, [main, ...args], { cwd: folder, env: environment() })
}

interface Initialised {
  readonly project: Readonly<Record<string, unknown>>
  readonly files: readonly { readonly path: string; readonly action: string; readonly text: string }[]
  readonly next: readonly string[]
  readonly written: boolean
}

async function init(folder: string, ...args: string[]): Promise<Initialised> {
  const { stdout } = await hookonce(folder, 'init', '--yes', '--json', ...args)
  return JSON.parse(stdout)
}

function environment(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^(HOOKONCE_|NODE_TEST|VITEST)/.test(name))
  return { ...Object.fromEntries(own), ...more }
}

/** What a written test runs: two projects in which it is the same need one run. */
const proven = new Map<string, Promise<string>>()

/** Runs the command of the step "Run the test", unless the same files have been tested in another project. */
function runWrittenTest(folder: string, { project: found, files, next }: Initialised): Promise<string> {
  const step = next.find((text) => text.startsWith('Run the test: '))!
  const words = step.replace('Run the test: ', '').split(' ')
  const tested = files.filter(({ path }) => /\bhandlers\./.test(path)).map(({ text }) => text)
  const program = words.filter((word) => !word.includes('handlers.'))
  const key = JSON.stringify([found.modules, program, tested])
  let printed = proven.get(key)
  if (printed === undefined) {
    const args = words[0] === 'npx' ? [vitest, ...words.slice(2)] : words.slice(1)
    printed = run(process.execPath, args, { cwd: folder, env: environment() }).then(({ stdout }) => stdout)
    proven.set(key, printed)
  }
  return printed
}

const any = '*'
/** The programs of the other frameworks are compiled below, and run by the quick starts. */
const cases: readonly [string, Manifest | null][] = [
  ['node', {}],
  ['express', { type: 'module', dependencies: { express: any } }],
  ['server', null],
]

describe('in JavaScript', () => {
  const folders = new Map<string, string>()

  test.for(cases)('%s is recognised, and the written test passes', async ([name, manifest]) => {
    const folder = await project(manifest)
    const made = await init(folder)
    expect(made.written).toBe(true)
    expect(made.project).toMatchObject({ framework: name, language: 'javascript', database: 'sqlite' })
    expect(readFileSync(join(folder, '.env.example'), 'utf8')).toBe('STRIPE_WEBHOOK_SECRET=\n')
    expect(await runWrittenTest(folder, made)).toMatch(/pass 1\b/)
    folders.set(name, folder)
  })

  test.for(cases)(
    '%s: the written program handles an event that is delivered three times once',
    async ([name]) => {
      const server = [join(home, 'node_modules/hookonce/dist/cli/main.js'), 'serve', '--port']
      await deliverTo(folders.get(name)!, name === 'server' ? server : ['app.js'])
    },
  )
})

/** Starts the app and delivers one event three times. */
async function deliverTo(folder: string, program: readonly string[]): Promise<void> {
  const secret = 'whsec_init_0123456789abcdef'
  const port = String(await freePort())
  const args = program.at(-1) === '--port' ? [...program, port] : program
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: environment({
      STRIPE_WEBHOOK_SECRET: secret,
      PORT: port,
      HOOKONCE_ADMIN_TOKEN: 'init-token-0123456789',
    }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const handled = new Promise<void>((resolve, reject) => {
    const read = (text: Buffer) => {
      output += text
      if (/invoice\.paid: in_/.test(output)) resolve()
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('exit', (code) => reject(new Error(`The app ended with ${code}:\n${output}`)))
  })
  handled.catch(() => {})
  try {
    await reachable(port, child)
    const main = join(home, 'node_modules/hookonce/dist/cli/main.js')
    const send = ['send', 'stripe', 'invoice.paid', '--to', `http://127.0.0.1:${port}`, '--times', '3']
    const { stdout } = await run(process.execPath, [main, ...send], {
      cwd: folder,
      env: environment({ HOOKONCE_SEND_SECRET: secret }),
    })
    expect(stdout).toContain('3 deliveries -> 1 recorded, 2 duplicates, all 200')
    await handled
  } finally {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
}

async function reachable(port: string, child: { readonly exitCode: number | null }): Promise<void> {
  while (child.exitCode === null) {
    const answer = await fetch(`http://127.0.0.1:${port}/`).catch(() => null)
    if (answer) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

describe('in TypeScript', () => {
  const tools = { tsx: any, typescript: any }
  const nest = { '@nestjs/core': any, '@nestjs/common': any, '@nestjs/platform-express': any }
  const typed: readonly [string, Manifest][] = [
    [
      'express',
      { type: 'module', dependencies: { express: any, pg: any, 'drizzle-orm': any }, devDependencies: tools },
    ],
    ['node', { dependencies: { pg: any, kysely: any }, devDependencies: tools }],
    ['hono', { type: 'module', dependencies: { hono: any }, devDependencies: { ...tools, vitest: any } }],
    ['fastify', { dependencies: { fastify: any, pg: any, knex: any }, devDependencies: tools }],
    ['nestjs', { dependencies: { ...nest, pg: any }, devDependencies: { ...tools, jest: any } }],
    ['next', { type: 'module', dependencies: { next: any, pg: any }, devDependencies: tools }],
  ]
  const folders: string[] = []

  test.for(typed)('%s is recognised, and the written test passes', async ([name, manifest]) => {
    const folder = await project(manifest, { 'tsconfig.json': tsconfig(['**/*']) })
    const made = await init(folder)
    const database = manifest.dependencies?.pg ? 'postgres' : 'sqlite'
    expect(made.project).toMatchObject({ framework: name, language: 'typescript', database })
    folders.push(folder)
    expect(await runWrittenTest(folder, made)).toMatch(/pass 1\b|1 passed/)
  })

  test('--framework server: a project that has a package.json gets a configuration file', async () => {
    const manifest: Manifest = { type: 'module', devDependencies: tools }
    const folder = await project(manifest, { 'tsconfig.json': tsconfig(['**/*']) })
    const made = await init(folder, '--framework', 'server')
    expect(made.project).toMatchObject({ framework: 'server', language: 'typescript' })
    expect(made.files.map(({ path }) => path)).toContain('hookonce.config.ts')
    folders.push(folder)
  })

  test('all of these files compile', async () => {
    expect(folders).toHaveLength(typed.length + 1)
    writeFileSync(join(home, 'tsconfig.json'), tsconfig(folders.map((folder) => `${folder}/**/*`)))
    await run(process.execPath, [tsc, '-p', home]).catch((error) => {
      throw new Error(error.stdout)
    })
  })
})

function tsconfig(include: readonly string[]): string {
  const compilerOptions = {
    target: 'es2022',
    module: 'esnext',
    moduleResolution: 'bundler',
    strict: true,
    exactOptionalPropertyTypes: true,
    experimentalDecorators: true,
    emitDecoratorMetadata: true,
    skipLibCheck: true,
    noEmit: true,
    types: ['node'],
  }
  return JSON.stringify({ compilerOptions, include })
}

test('the test of a handler has fewer than 12 lines', async () => {
  const folder = await project({ type: 'module' })
  await init(folder)
  const lines = readFileSync(join(folder, 'webhooks/handlers.test.js'), 'utf8').trim().split('\n')
  expect(lines.filter((line) => line !== '').length).toBeLessThan(12)
})

test('an existing file is not changed, and the output says what to add', async () => {
  const app = "import express from 'express'\n"
  const folder = await project(
    { type: 'module', dependencies: { express: any } },
    { 'src/index.js': app, 'src/webhooks/inbox.js': 'export {}\n', '.env.example': 'PORT=3000\n' },
  )
  const { stdout } = await hookonce(folder, 'init', '--yes')
  expect(readFileSync(join(folder, 'src/index.js'), 'utf8')).toBe(app)
  expect(readFileSync(join(folder, 'src/webhooks/inbox.js'), 'utf8')).toBe('export {}\n')
  expect(readFileSync(join(folder, '.env.example'), 'utf8')).toBe('PORT=3000\n')
  expect(existsSync(join(folder, 'src/app.js'))).toBe(false)
  expect(stdout).toContain('src/webhooks/inbox.js exists and was not changed.')
  expect(stdout).toMatch(/\.env\.example exists .*\n\s+STRIPE_WEBHOOK_SECRET=/)
  expect(stdout).toMatch(/Add to src\/index\.js:\n\s+app\.use\(expressHandler\(inbox\)\)/)
})

test('a second run has nothing to write and nothing to mount', async () => {
  const folder = await project({})
  await init(folder)
  const { files, next } = await init(folder)
  expect(files.map(({ action }) => action)).toEqual(files.map(() => 'kept'))
  expect(next.join()).not.toContain('Add to app.js')
})

test('nothing is written by --dry-run, nor without a terminal and --yes', async () => {
  const folder = await project({})
  const before = readdirSync(folder)
  const { stderr } = await hookonce(folder, 'init', '--dry-run', '--source', 'github')
  expect(stderr).toContain("github({ secret: env('GITHUB_WEBHOOK_SECRET') })")
  await expect(hookonce(folder, 'init')).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--yes'),
  })
  expect(readdirSync(folder)).toEqual(before)
})

test('the variables of every sender are enough to make its source', () => {
  for (const factory of Object.values(catalogue) as unknown as ProviderFactory[]) {
    const example = factory.example() as Record<string, unknown>
    const { variables, type } = senderOf(factory)
    const options = Object.fromEntries(Object.keys(variables).map((option) => [option, example[option]]))
    expect(() => (factory as unknown as (options: object) => unknown)(options)).not.toThrow()
    for (const name of Object.values(variables)) expect(name).toMatch(/^[A-Z][A-Z0-9_]+$/)
    expect(type).not.toContain("'")
  }
})
