import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '../failure.js'

/** The first one found counts: a NestJS or Next.js project often has Express too. */
export const frameworks = ['next', 'nestjs', 'fastify', 'hono', 'express', 'node', 'server'] as const
export type Framework = (typeof frameworks)[number]

export type Orm = 'drizzle' | 'prisma' | 'kysely' | 'knex'

export interface Project {
  readonly folder: string
  readonly framework: Framework
  readonly language: 'typescript' | 'javascript'
  readonly modules: 'esm' | 'commonjs'
  readonly orm: Orm | null
  readonly database: 'postgres' | 'sqlite'
  readonly testRunner: 'vitest' | 'node:test'
  readonly packageManager: 'npm' | 'pnpm' | 'yarn' | 'bun'
  /** `src/` or empty. */
  readonly base: string
  readonly extension: 'ts' | 'js' | 'mjs'
  /** An existing program, which has to mount the handler. */
  readonly entry: string | null
  readonly packages: ReadonlySet<string>
}

interface PackageJson {
  readonly type?: string
  readonly main?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

const packageOf: Readonly<Partial<Record<Framework, string>>> = {
  next: 'next',
  nestjs: '@nestjs/core',
  fastify: 'fastify',
  hono: 'hono',
  express: 'express',
}

const packageOfOrm: Readonly<Record<Orm, string>> = {
  drizzle: 'drizzle-orm',
  prisma: '@prisma/client',
  kysely: 'kysely',
  knex: 'knex',
}

export function readProject(folder: string, wanted?: Framework): Project {
  const manifest = readManifest(folder)
  const packages = new Set(Object.keys({ ...manifest?.dependencies, ...manifest?.devDependencies }))
  const has = (path: string) => existsSync(join(folder, path))
  const found = frameworks.find((name) => packages.has(packageOf[name] ?? ''))
  const framework = wanted ?? found ?? (manifest ? 'node' : 'server')
  // NestJS needs the decorators of TypeScript.
  const typescript = has('tsconfig.json') || packages.has('typescript') || framework === 'nestjs'
  const esm = framework === 'next' || manifest?.type === 'module' || (!manifest && !typescript)
  // The configuration file is always an ES module, so its neighbours are too.
  const mjs = !typescript && (!manifest || (framework === 'server' && !esm))
  const base = baseOf(framework, has)
  const orms = Object.keys(packageOfOrm) as Orm[]
  return {
    folder,
    framework,
    language: typescript ? 'typescript' : 'javascript',
    modules: esm || mjs ? 'esm' : 'commonjs',
    orm: orms.find((name) => packages.has(packageOfOrm[name])) ?? null,
    database: packages.has('pg') || namesPostgres(folder) ? 'postgres' : 'sqlite',
    testRunner: packages.has('vitest') ? 'vitest' : 'node:test',
    packageManager: installerOf(has),
    base,
    extension: typescript ? 'ts' : mjs ? 'mjs' : 'js',
    entry: entryOf(manifest?.main, base, has),
    packages,
  }
}

function readManifest(folder: string): PackageJson | null {
  const path = join(folder, 'package.json')
  if (!existsSync(path)) return null
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as PackageJson
  } catch (error) {
    throw new Failure(
      `package.json cannot be read: ${(error as Error).message}. Correct it and run init again.`,
    )
  }
}

/** Next.js looks for its routes in `src` only when they are there already; a project without files needs no `src`. */
function baseOf(framework: Framework, has: (path: string) => boolean): string {
  if (framework === 'server') return ''
  if (framework === 'next') return has('src/app') || has('src/pages') ? 'src/' : ''
  return framework === 'nestjs' || has('src') ? 'src/' : ''
}

function entryOf(main: string | undefined, base: string, has: (path: string) => boolean): string | null {
  const names = ['main', 'app', 'server', 'index'].flatMap((name) =>
    ['ts', 'mts', 'js', 'mjs', 'cjs'].map((extension) => `${name}.${extension}`),
  )
  const places = [...names.map((name) => base + name), ...names, ...(main === undefined ? [] : [main])]
  return places.find(has) ?? null
}

/** DATABASE_URL may name another database, such as MySQL. */
function namesPostgres(folder: string): boolean {
  return ['.env', '.env.local'].some((name) => {
    const path = join(folder, name)
    return (
      existsSync(path) &&
      /^\s*(export )?DATABASE_URL\s*=\s*["']?postgres(ql)?:/m.test(readFileSync(path, 'utf8'))
    )
  })
}

function installerOf(has: (path: string) => boolean): Project['packageManager'] {
  if (has('pnpm-lock.yaml')) return 'pnpm'
  if (has('yarn.lock')) return 'yarn'
  return has('bun.lock') || has('bun.lockb') ? 'bun' : 'npm'
}
