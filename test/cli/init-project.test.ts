/** What `hookonce init` finds in a project, without being told. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { type Project, readProject } from '#dist/cli/init/project.js'

const home = mkdtempSync(join(tmpdir(), 'hookonce-init-project-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))

interface Case {
  readonly name: string
  readonly type?: 'module'
  /** Null: there is no package.json. */
  readonly packages?: readonly string[] | null
  readonly files?: Readonly<Record<string, string>>
  readonly found: Partial<Project>
}

function read({ name, type, packages = [], files = {} }: Case): Project {
  const folder = join(home, name.replaceAll(/\W+/g, '-'))
  mkdirSync(folder)
  const dependencies = Object.fromEntries((packages ?? []).map((each) => [each, '*']))
  const manifest = packages === null ? {} : { 'package.json': JSON.stringify({ type, dependencies }) }
  for (const [path, text] of Object.entries({ ...manifest, ...files })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return readProject(folder)
}

const nest = ['@nestjs/core', '@nestjs/common', '@nestjs/platform-express', 'express']
const postgresUrl = 'DATABASE_URL="postgresql://app@localhost/app"\n'

test.for<Case>([
  {
    name: 'no package.json',
    packages: null,
    found: { framework: 'server', modules: 'esm', extension: 'mjs' },
  },
  { name: 'no framework', found: { framework: 'node', modules: 'commonjs', extension: 'js' } },
  { name: 'Express', type: 'module', packages: ['express'], found: { framework: 'express', modules: 'esm' } },
  { name: 'Fastify', packages: ['fastify'], found: { framework: 'fastify', modules: 'commonjs' } },
  { name: 'Hono', packages: ['hono'], found: { framework: 'hono' } },
  {
    name: 'NestJS on Express',
    packages: nest,
    found: { framework: 'nestjs', language: 'typescript', base: 'src/' },
  },
  {
    name: 'Next with Express',
    packages: ['express', 'next'],
    found: { framework: 'next', modules: 'esm', base: '' },
  },
  { name: 'Next in src', packages: ['next'], files: { 'src/app/page.tsx': '' }, found: { base: 'src/' } },
  { name: 'JavaScript', packages: ['express'], found: { language: 'javascript', extension: 'js' } },
  {
    name: 'TypeScript by its package',
    packages: ['typescript'],
    found: { language: 'typescript', extension: 'ts' },
  },
  { name: 'TypeScript by its file', files: { 'tsconfig.json': '{}' }, found: { language: 'typescript' } },
  { name: 'Drizzle', packages: ['pg', 'drizzle-orm'], found: { orm: 'drizzle', database: 'postgres' } },
  { name: 'Prisma', packages: ['@prisma/client'], found: { orm: 'prisma', database: 'sqlite' } },
  { name: 'Kysely', packages: ['pg', 'kysely'], found: { orm: 'kysely' } },
  { name: 'Knex', packages: ['pg', 'knex'], found: { orm: 'knex' } },
  { name: 'no database', found: { orm: null, database: 'sqlite' } },
  { name: 'PostgreSQL in .env', files: { '.env': postgresUrl }, found: { database: 'postgres' } },
  {
    name: 'MySQL in .env',
    files: { '.env': 'DATABASE_URL=mysql://app@db/app' },
    found: { database: 'sqlite' },
  },
  { name: 'vitest', packages: ['vitest'], found: { testRunner: 'vitest' } },
  { name: 'no test runner', found: { testRunner: 'node:test' } },
  { name: 'pnpm', files: { 'pnpm-lock.yaml': '' }, found: { packageManager: 'pnpm' } },
  { name: 'yarn', files: { 'yarn.lock': '' }, found: { packageManager: 'yarn' } },
  { name: 'bun', files: { 'bun.lock': '' }, found: { packageManager: 'bun' } },
  { name: 'a program in src', files: { 'src/main.ts': '' }, found: { entry: 'src/main.ts', base: 'src/' } },
  { name: 'no program', found: { entry: null } },
])('$name: $found', (wanted) => {
  expect(read(wanted)).toMatchObject(wanted.found)
})
