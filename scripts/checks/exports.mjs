/** What users can import: it is in the package, it has types, tools agree, and a document speaks of it. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { extraPath, installExtras } from '../extras.mjs'
import { documents, read, root, tool } from './run.mjs'

export const exported = {
  name: 'exports',
  async run() {
    await installExtras('checks')
    const pkg = JSON.parse(await read('package.json'))
    const compiled = await strictTypes(pkg)
    return [...(await ownChecks(pkg)), ...(await publintProblems(pkg)), ...(await attw()), ...compiled]
  },
}

/** @param {{ name: string, exports: Record<string, string | Record<string, string>> }} pkg */
async function ownChecks(pkg) {
  const problems = []
  const texts = await Promise.all((await documents()).map(read))
  for (const [subpath, entry] of Object.entries(pkg.exports)) {
    if (subpath === './package.json') continue
    const targets = typeof entry === 'string' ? { default: entry } : entry
    if (!targets.types) problems.push(`${subpath} has no types`)
    for (const target of Object.values(targets)) {
      if (!existsSync(join(root, target))) problems.push(`${subpath} points to ${target}, which is not built`)
    }
    const name = subpath === '.' ? pkg.name : `${pkg.name}/${subpath.slice(2)}`
    // As an import or between backticks: the bare name of the package is in every sentence.
    const mentioned = new RegExp(`['"\`]${name.replace(/[/.]/g, '\\$&')}['"\`]`)
    if (!texts.some((text) => mentioned.test(text))) problems.push(`no document mentions ${name}`)
  }
  return problems
}

/** @param {Record<string, any>} pkg */
async function publintProblems(pkg) {
  const { publint } = await import('publint')
  const { formatMessage } = await import('publint/utils')
  const { messages } = await publint({ pkgDir: root, strict: true })
  return messages.map((message) => `publint: ${formatMessage(message, pkg)}`)
}

async function attw() {
  const format = ['--no-color', '--no-emoji', '--format', 'ascii']
  return tool('attw', ['--pack', '.', '--profile', 'esm-only', ...format], extraPath('checks', '.bin'))
}

const run = promisify(execFile)

/**
 * The types of all subpaths in a project with `skipLibCheck: false`, with the types of the oldest Node and of the newest.
 * @param {{ exports: object, dependencies: object }} pkg
 */
async function strictTypes({ exports, dependencies }) {
  // Payload types of providers need the packages of those providers.
  const parts = Object.keys(exports).filter((part) => !/^\.\/(types\/|package)/.test(part))
  const program = parts.map((part, i) => `export * as part${i} from '${part.replace('.', 'hookonce')}'`)
  const compilerOptions = {
    ...{ module: 'nodenext', target: 'es2023', lib: ['es2023', 'esnext.disposable'], types: ['node'] },
    ...{ strict: true, exactOptionalPropertyTypes: true, noEmit: true, skipLibCheck: false },
    preserveSymlinks: true,
  }
  const others = ['@types/pg', 'pg-types', 'pg-protocol', '@opentelemetry/api', ...Object.keys(dependencies)]
  const ofNode = ['@types/node', 'undici-types']
  const project = await mkdtemp(join(tmpdir(), 'hookonce-types-'))
  /** @param {string} name @param {string} from */
  async function link(name, from) {
    const place = join(project, 'node_modules', name)
    await mkdir(dirname(place), { recursive: true })
    await rm(place, { force: true })
    await symlink(join(from, 'node_modules', name), place)
  }
  const newest = join(project, 'newest')
  try {
    for (const name of others) await link(name, root)
    // A copy: a link would find the development dependencies of the repository.
    for (const file of ['dist', 'package.json'])
      await cp(join(root, file), join(project, 'node_modules/hookonce', file), { recursive: true })
    await writeFile(join(project, 'program.ts'), program.join('\n'))
    await writeFile(
      join(project, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, include: ['program.ts'] }),
    )
    const quiet = ['install', '--silent', '--no-audit', '--prefix', newest]
    await run('npm', [...quiet, '@types/node@latest'], { cwd: project })
    const problems = []
    for (const from of [root, newest]) {
      for (const name of ofNode) await link(name, from)
      problems.push(...(await tool('tsc', ['-p', project])))
    }
    return problems
  } finally {
    await rm(project, { recursive: true, force: true })
  }
}
