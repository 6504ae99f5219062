/** The inbox and the program that serves it, in the style of docs/quick-start. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type File, type Import, moduleFolder, moduleText, relative, transactionType } from './code.js'
import type { Framework, Project } from './project.js'
import type { Sender } from './sender.js'

/** A program that exists already is left alone: `mountLines` says what to add to it. */
export function appFiles(project: Project, sender: Sender): readonly File[] {
  const { framework, base, extension, entry } = project
  const folder = moduleFolder(project)
  if (framework === 'server')
    return [{ path: `hookonce.config.${extension}`, text: configuration(project, sender) }]
  if (framework === 'nestjs')
    return [
      { path: `${folder}/inbox.module.ts`, text: nestModule(project, sender) },
      ...(entry === null ? [{ path: `${base}main.ts`, text: nestMain(project) }] : []),
    ]
  const inbox = { path: `${folder}/inbox.${extension}`, text: inboxModule(project, sender) }
  if (framework === 'next')
    return [
      inbox,
      { path: `${base}app/webhooks/[source]/route.${extension}`, text: nextRoute },
      { path: `${base}instrumentation.${extension}`, text: nextInstrumentation },
    ]
  const app = { path: `${base}app.${extension}`, text: programs[framework](project) }
  return entry === null ? [inbox, app] : [inbox]
}

/** What a program that exists has to add. Null when it was written here, or uses hookonce already. */
export function mountLines({ folder, framework, entry }: Project): string | null {
  if (framework === 'next' || framework === 'server' || entry === null) return null
  if (readFileSync(join(folder, entry), 'utf8').includes('hookonce/')) return null
  return `Add to ${entry}:\n${mounts[framework]}`
}

const mounts: Readonly<Record<Exclude<Framework, 'next' | 'server'>, string>> = {
  express: `  app.use(expressHandler(inbox)) // from 'hookonce/express'; above express.json()
  await inbox.start()`,
  fastify: `  app.register(fastifyPlugin(inbox)) // from 'hookonce/fastify'
  app.addHook('onClose', () => inbox.stop())
  await inbox.start()`,
  hono: `  app.all('/webhooks/:source', honoHandler(inbox)) // from 'hookonce/hono'
  await inbox.start()`,
  node: `  createServer(nodeHandler(inbox)) // from 'hookonce/node'; serves /webhooks/<source>
  await inbox.start()`,
  nestjs: `  app.enableShutdownHooks()
  app.use(expressHandler(app.get(INBOX))) // from 'hookonce/express'; before app.listen
and InboxModule to the imports of the application's module.`,
}

function sourceText({ key, variables }: Sender): string {
  const options = Object.entries(variables).map(([option, name]) => `${option}: env('${name}')`)
  return `${key}: ${key}({ ${options.join(', ')} })`
}

const storeText = ({ database }: Project) =>
  database === 'postgres' ? `postgres({ url: env('DATABASE_URL') })` : `sqlite('events.db')`

function storeImport(project: Project, withType = false): Import {
  const { from, types = [] } = transactionType(project)
  return { from, names: [project.database], types: withType ? types : [] }
}

/** In the order of their names, as in the quick starts. */
function inboxImports(project: Project, sender: Sender, withType = false): readonly Import[] {
  const providers = { from: 'hookonce/providers', names: [sender.key] }
  const store = storeImport(project, withType)
  return project.database === 'postgres' ? [store, providers] : [providers, store]
}

function inboxModule(project: Project, sender: Sender): string {
  return moduleText(
    project,
    [
      { from: 'hookonce', names: ['createInbox', 'env'] },
      ...inboxImports(project, sender),
      { from: relative(project, './handlers'), names: ['handlers'] },
    ],
    `
export const inbox = createInbox({
  store: ${storeText(project)},
  sources: { ${sourceText(sender)} },
})

handlers(inbox)`,
  )
}

/** CommonJS has no `await` outside of functions. */
function started({ modules }: Project, listen: string, waits = false): string {
  if (modules === 'commonjs') return `inbox.start().then(() => ${listen})`
  return `await inbox.start()\n${waits ? 'await ' : ''}${listen}`
}

const inboxImport = (project: Project): Import => ({
  from: relative(project, './webhooks/inbox'),
  names: ['inbox'],
})
const port = 'Number(process.env.PORT ?? 3000)'

const programs: Readonly<Record<'express' | 'fastify' | 'hono' | 'node', (project: Project) => string>> = {
  express: (project) =>
    moduleText(
      project,
      [
        { from: 'express', whole: 'express' },
        { from: 'hookonce/express', names: ['expressHandler'] },
        inboxImport(project),
      ],
      `
const app = express()
app.use(expressHandler(inbox)) // serves /webhooks/<source>
app.use(express.json())

${started(project, `app.listen(${port})`)}`,
    ),
  fastify: (project) =>
    moduleText(
      project,
      [
        { from: 'fastify', whole: 'Fastify' },
        { from: 'hookonce/fastify', names: ['fastifyPlugin'] },
        inboxImport(project),
      ],
      `
const app = Fastify()
app.register(fastifyPlugin(inbox)) // serves /webhooks/<source>
app.addHook('onClose', () => inbox.stop())

${started(project, `app.listen({ port: ${port} })`, true)}`,
    ),
  hono: (project) =>
    moduleText(
      project,
      [
        { from: '@hono/node-server', names: ['serve'] },
        { from: 'hono', names: ['Hono'] },
        { from: 'hookonce/hono', names: ['honoHandler'] },
        inboxImport(project),
      ],
      `
const app = new Hono()
app.all('/webhooks/:source', honoHandler(inbox))

${started(project, `serve({ fetch: app.fetch, port: ${port} })`)}`,
    ),
  node: (project) =>
    moduleText(
      project,
      [
        { from: 'node:http', names: ['createServer'] },
        { from: 'hookonce/node', names: ['nodeHandler'] },
        inboxImport(project),
      ],
      `
const server = createServer(nodeHandler(inbox)) // serves /webhooks/<source>

${started(project, `server.listen(${port})`)}

process.once('SIGTERM', () => inbox.stop().then(() => process.exit()))`,
    ),
}

function configuration(project: Project, sender: Sender): string {
  const store = project.database === 'postgres' ? `env('DATABASE_URL')` : `'sqlite:events.db'`
  return moduleText(
    project,
    [
      { from: 'hookonce', names: ['defineConfig', 'env'] },
      { from: 'hookonce/providers', names: [sender.key] },
      { from: relative(project, './webhooks/handlers'), names: ['handlers'] },
    ],
    `
export default defineConfig({
  store: ${store},
  sources: { ${sourceText(sender)} },
  handlers,
  server: { port: 3000 },
})`,
  )
}

/** The same below `src`, which holds both folders. */
const nextRoute = `import { nextRoute } from 'hookonce/next'
import { inbox } from '../../../lib/inbox'

export const { GET, POST } = nextRoute(inbox)
`

const nextInstrumentation = `export async function register() {
  if (process.env.NEXT_RUNTIME !== 'nodejs') return
  const { inbox } = await import('./lib/inbox')
  await inbox.start()
}
`

function nestModule(project: Project, sender: Sender): string {
  const tx = transactionType(project).types![0]
  return moduleText(
    project,
    [
      {
        from: '@nestjs/common',
        names: ['Inject', 'Module'],
        types: ['OnApplicationBootstrap', 'OnApplicationShutdown'],
      },
      { from: 'hookonce', names: ['createInbox', 'env'], types: ['Inbox'] },
      ...inboxImports(project, sender, true),
      { from: relative(project, './handlers'), names: ['handlers'] },
    ],
    `
export const INBOX = Symbol('inbox')

function makeInbox(): Inbox<${tx}> {
  const inbox = createInbox({
    store: ${storeText(project)},
    sources: { ${sourceText(sender)} },
  })
  handlers(inbox)
  return inbox
}

@Module({ providers: [{ provide: INBOX, useFactory: makeInbox }], exports: [INBOX] })
export class InboxModule implements OnApplicationBootstrap, OnApplicationShutdown {
  constructor(@Inject(INBOX) private readonly inbox: Inbox<${tx}>) {}

  onApplicationBootstrap() {
    return this.inbox.start()
  }

  onApplicationShutdown() {
    return this.inbox.stop()
  }
}`,
  )
}

function nestMain(project: Project): string {
  return moduleText(
    project,
    [
      { from: '@nestjs/common', names: ['Module'] },
      { from: '@nestjs/core', names: ['NestFactory'] },
      { from: 'hookonce/express', names: ['expressHandler'] },
      { from: relative(project, './webhooks/inbox.module'), names: ['INBOX', 'InboxModule'] },
    ],
    `
@Module({ imports: [InboxModule] })
class AppModule {}

async function main() {
  const app = await NestFactory.create(AppModule)
  app.enableShutdownHooks()
  app.use(expressHandler(app.get(INBOX))) // serves /webhooks/<source>
  await app.listen(${port})
}

void main()`,
  ).replace(/^/, "import 'reflect-metadata'\n")
}
