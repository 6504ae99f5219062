/** The files that `init` writes for every framework: handlers, their test, the inbox, the bridge to an ORM, variables. */
import { type File, type Import, moduleFolder, moduleText, relative, transactionType } from './code.js'
import { appFiles } from './frameworks.js'
import type { Orm, Project } from './project.js'
import type { Sender } from './sender.js'

export function filesFor(project: Project, sender: Sender): readonly File[] {
  const at = (name: string) => `${moduleFolder(project)}/${name}`
  const bridge = project.database === 'postgres' && project.orm ? bridges[project.orm] : undefined
  return [
    { path: at(`handlers.${project.extension}`), text: handlers(project, sender) },
    { path: at(testName(project)), text: handlersTest(project, sender) },
    ...(bridge ? [{ path: at(`database.${project.extension}`), text: bridge(project) }] : []),
    ...appFiles(project, sender),
    { path: '.env.example', text: variables(project, sender) },
  ]
}

/** jest cannot load ES modules without options, so it must not find the test, which is written for node:test. */
export function testName({ packages, testRunner, extension }: Project): string {
  const kind = testRunner === 'node:test' && packages.has('jest') ? 'node-test' : 'test'
  return `handlers.${kind}.${extension}`
}

export function variables({ database }: Project, sender: Sender): string {
  const names = [...Object.values(sender.variables), ...(database === 'postgres' ? ['DATABASE_URL'] : [])]
  return names.map((name) => `${name}=\n`).join('')
}

function handlers(project: Project, { key, type }: Sender): string {
  const tx = transactionType(project)
  const typed = project.language === 'typescript' ? `: Inbox<${tx.types![0]}>` : ''
  return moduleText(
    project,
    [{ from: 'hookonce', types: ['Inbox'] }, tx],
    `
export function handlers(inbox${typed}) {
  inbox.on('${key}', '${type}', async (event) => {
    console.log(\`\${event.type}: \${event.reference}\`)
  })
}`,
  )
}

function handlersTest(project: Project, { key, type }: Sender): string {
  const vitest = project.testRunner === 'vitest'
  return moduleText(
    project,
    [
      ...(vitest ? [] : [{ from: 'node:test', names: ['test'] }]),
      { from: 'hookonce/providers', names: [key] },
      { from: 'hookonce/testing', names: ['assertDuplicate', 'assertSucceeded', 'testInbox', 'testSource'] },
      ...(vitest ? [{ from: 'vitest', names: ['test'] }] : []),
      { from: relative(project, './handlers'), names: ['handlers'] },
    ],
    `
test('a repeated ${type} is handled once', async () => {
  const t = await testInbox({ sources: { ${key}: testSource(${key}) }, handlers })
  const [first, second] = await t.deliverTwice('${key}', '${type}')
  assertSucceeded(first)
  assertDuplicate(second)
  await t.stop()
})`,
  )
}

/** As in docs/orm.md. The client of Prisma is generated into a folder that only the project knows, so it has none here. */
const bridges: Readonly<Partial<Record<Orm, (project: Project) => string>>> = {
  drizzle: (project) =>
    bridgeText(
      project,
      { from: 'drizzle-orm/node-postgres', names: ['drizzle'] },
      `export function drizzleOn(ctx${context(project)}) {
  return drizzle({ client: asClient(ctx.tx) })
}`,
    ),
  kysely: (project) =>
    bridgeText(
      project,
      { from: 'kysely', names: ['Kysely', 'PostgresDialect'] },
      project.language === 'typescript'
        ? `export function kyselyOn<Tables>(ctx${context(project)}): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool: asClient(ctx.tx) }) })
}`
        : `export function kyselyOn(ctx) {
  return new Kysely({ dialect: new PostgresDialect({ pool: asClient(ctx.tx) }) })
}`,
    ),
  knex: (project) =>
    bridgeText(
      project,
      { from: 'knex', whole: 'knex', types: ['Knex'] },
      `export function knexOn(ctx${context(project)})${project.language === 'typescript' ? ': Knex' : ''} {
  const db = knex({ client: 'pg' })
  const connection = asClient(ctx.tx)
  db.client.acquireConnection = async () => connection
  db.client.releaseConnection = async () => {}
  return db
}`,
    ),
}

function bridgeText(project: Project, orm: Import, body: string): string {
  return moduleText(
    project,
    [
      orm,
      { from: 'hookonce', types: ['HandlerContext'] },
      { from: 'hookonce/postgres', names: ['asClient'], types: ['PostgresTx'] },
    ],
    `/** For handlers: writes through it commit together with the outcome of the event. */\n${body}`,
  )
}

function context({ language }: Project): string {
  return language === 'typescript' ? ': HandlerContext<PostgresTx>' : ''
}
