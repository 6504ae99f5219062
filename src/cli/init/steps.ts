/** The user does the rest: install, mount, set the secret, run the test, send an event. */

import { moduleFolder } from './code.js'
import { testName, variablesOf } from './files.js'
import { mountLines } from './frameworks.js'
import type { Project } from './project.js'
import type { Sender } from './sender.js'

export function nextSteps(project: Project, sender: Sender): readonly string[] {
  const mount = mountLines(project)
  const { orm, database, framework, packages } = project
  return [
    ...installs(project),
    ...(mount === null ? [] : [mount]),
    ...(framework === 'nestjs' && packages.has('@nestjs/platform-fastify')
      ? ['On the Fastify platform use fastifyPlugin of hookonce/fastify in place of expressHandler.']
      : []),
    ...(database === 'postgres' && orm === 'prisma'
      ? ['Write through Prisma in the transaction of the event: docs/transactions.md.']
      : []),
    ...(database === 'sqlite' ? ['Add events.db* to .gitignore.'] : []),
    `Run the test: ${testCommand(project)}`,
    `Set ${variablesOf(project, sender).join(' and ')} (see .env.example) and start: ${startCommand(project)}`,
    sender.signs
      ? `Send an event, with the secret in HOOKONCE_SEND_SECRET: npx hookonce send ${sender.key} ${quoted(sender.type)} --to http://localhost:3000`
      : `Only ${sender.name} can sign its events: try the handlers with the test, or with npx hookonce dev.`,
    `Set the endpoint at ${sender.name}: https://<your host>/webhooks/${sender.key}`,
  ]
}

const add = { npm: 'npm install', pnpm: 'pnpm add', yarn: 'yarn add', bun: 'bun add' } as const

/** The test runs on SQLite in memory, so Node 20 needs its driver for the test even when the log is on PostgreSQL. */
function installs({ packageManager, packages, database, framework, language, testRunner }: Project) {
  const missing = (names: readonly string[]) => names.filter((name) => !packages.has(name))
  const driver = Number.parseInt(process.versions.node, 10) < 22 ? ['@photostructure/sqlite'] : []
  const run = missing([
    'hookonce',
    ...(database === 'postgres' ? ['pg'] : driver),
    ...(framework === 'hono' ? ['@hono/node-server'] : []),
  ])
  const dev = missing([
    ...(database === 'postgres' ? driver : []),
    ...(language === 'typescript' && (testRunner === 'node:test' || framework !== 'next') ? ['tsx'] : []),
  ])
  const command = add[packageManager]
  return [
    ...(run.length === 0 ? [] : [`Install: ${command} ${run.join(' ')}`]),
    ...(dev.length === 0 ? [] : [`Install for development: ${command} -D ${dev.join(' ')}`]),
  ]
}

function testCommand(project: Project): string {
  const file = `${moduleFolder(project)}/${testName(project)}`
  if (project.testRunner === 'vitest') return `npx vitest run ${file}`
  return project.language === 'typescript' ? `node --import tsx --test ${file}` : `node --test ${file}`
}

function startCommand({ framework, entry, base, language, extension }: Project): string {
  if (framework === 'next') return 'npx next dev'
  if (framework === 'server') return 'npx hookonce serve --env-file .env'
  if (entry !== null) return 'as before'
  const file = `${base}${framework === 'nestjs' ? 'main' : 'app'}.${extension}`
  return `${language === 'typescript' ? 'npx tsx' : 'node'} --env-file=.env ${file}`
}

function quoted(type: string): string {
  return /^[\w./:-]+$/.test(type) ? type : `'${type}'`
}
