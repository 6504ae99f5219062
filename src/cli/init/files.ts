import { type File, moduleFolder, moduleText, storeNames, typed } from './code.js'
import { appFiles } from './frameworks.js'
import type { Orm, Project } from './project.js'
import type { Sender } from './sender.js'

export function filesFor(project: Project, sender: Sender): readonly File[] {
  const at = (name: string) => `${moduleFolder(project)}/${name}`
  const variables = variablesOf(project, sender)
  const bridge = project.database === 'postgres' && project.orm ? bridges[project.orm] : undefined
  return [
    { path: at(`handlers.${project.extension}`), text: handlers(project, sender) },
    { path: at(testName(project)), text: handlersTest(project, sender) },
    ...(bridge
      ? [{ path: at(`database.${project.extension}`), text: moduleText(project, bridge(project)) }]
      : []),
    ...appFiles(project, sender),
    { path: '.env.example', text: variables.map((name) => `${name}=\n`).join('') },
  ]
}

/** jest cannot load ES modules without options, so it must not find the test, which is written for node:test. */
export function testName({ packages, testRunner, extension }: Project): string {
  const kind = testRunner === 'node:test' && packages.has('jest') ? 'node-test' : 'test'
  return `handlers.${kind}.${extension}`
}

export function variablesOf({ database }: Project, sender: Sender): readonly string[] {
  return [...Object.values(sender.variables), ...(database === 'postgres' ? ['DATABASE_URL'] : [])]
}

function handlers(project: Project, { key, type }: Sender): string {
  const { from, tx } = storeNames(project)
  return moduleText(
    project,
    `
import type { Inbox } from 'hookonce'
import type { ${tx} } from '${from}'

export function handlers(inbox${typed(project, `: Inbox<${tx}>`)}) {
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
    `${vitest ? '' : "import { test } from 'node:test'\n"}import { ${key} } from 'hookonce/providers'
import { assertDuplicate, assertSucceeded, testInbox, testSource } from 'hookonce/testing'
${vitest ? "import { test } from 'vitest'\n" : ''}import { handlers } from './handlers'

test('a repeated ${type} is handled once', async () => {
  const t = await testInbox({ sources: { ${key}: testSource(${key}) }, handlers })
  const [first, second] = await t.deliverTwice('${key}', '${type}')
  assertSucceeded(first)
  assertDuplicate(second)
  await t.stop()
})`,
  )
}

/** Prisma has none: its client is generated into a folder that only the project knows. */
const bridges: Readonly<Partial<Record<Orm, (project: Project) => string>>> = {
  drizzle: (project) => `
import { drizzle } from 'drizzle-orm/node-postgres'
${bridgeHead}
export function drizzleOn(ctx${context(project)}) {
  return drizzle({ client: asClient(ctx.tx) })
}`,
  kysely: (project) => `
import { Kysely, PostgresDialect } from 'kysely'
${bridgeHead}
export function kyselyOn${typed(project, '<Tables>')}(ctx${context(project)})${typed(project, ': Kysely<Tables>')} {
  return new Kysely${typed(project, '<Tables>')}({ dialect: new PostgresDialect({ pool: asClient(ctx.tx) }) })
}`,
  knex: (project) => `
import knex, { type Knex } from 'knex'
${bridgeHead}
export function knexOn(ctx${context(project)})${typed(project, ': Knex')} {
  const db = knex({ client: 'pg' })
  const connection = asClient(ctx.tx)
  db.client.acquireConnection = async () => connection
  db.client.releaseConnection = async () => {}
  return db
}`,
}

const bridgeHead = `import type { HandlerContext } from 'hookonce'
import { asClient, type PostgresTx } from 'hookonce/postgres'

/** For handlers: writes through it commit together with the outcome of the event. */`

const context = (project: Project) => typed(project, ': HandlerContext<PostgresTx>')
