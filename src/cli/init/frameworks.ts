/** Inbox and program look as in docs/quick-start. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type File, moduleFolder, moduleText, storeNames } from './code.js'
import type { Framework, Project } from './project.js'
import type { Sender } from './sender.js'

/** Leaves an existing program alone: `mountLines` says what to add to it. */
export function appFiles(project: Project, sender: Sender): readonly File[] {
  const { framework, base, extension, entry } = project
  const folder = moduleFolder(project)
  const file = (path: string, source: string) => ({ path, text: moduleText(project, source) })
  if (framework === 'server') return [file(`hookonce.config.${extension}`, configuration(project, sender))]
  if (framework === 'nestjs')
    return [
      file(`${folder}/inbox.module.ts`, nestModule(project, sender)),
      ...(entry === null ? [file(`${base}main.ts`, nestMain)] : []),
    ]
  if (framework === 'next')
    return [
      file(`${folder}/inbox.${extension}`, nextInbox(project, sender)),
      file(`${base}app/webhooks/[source]/route.${extension}`, nextRoute),
      file(`${base}instrumentation.${extension}`, nextInstrumentation),
    ]
  const inbox = file(`${folder}/inbox.${extension}`, inboxModule(project, sender))
  return entry === null ? [inbox, file(`${base}app.${extension}`, programs[framework](project))] : [inbox]
}

/** Null when init writes the program, or the program uses hookonce already. */
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

/** `types` go into the import of the store. */
function inboxImports(project: Project, sender: Sender, types = ''): string {
  const providers = `import { ${sender.key} } from 'hookonce/providers'`
  const store = `import { ${project.database}${types} } from '${storeNames(project).from}'`
  return project.database === 'postgres' ? `${store}\n${providers}` : `${providers}\n${store}`
}

function inboxModule(project: Project, sender: Sender): string {
  return `
import { createInbox, env } from 'hookonce'
${inboxImports(project, sender)}
import { handlers } from './handlers'

export const inbox = createInbox({
  store: ${storeText(project)},
  sources: { ${sourceText(sender)} },
})

handlers(inbox)`
}

/** CommonJS has no `await` outside of functions. */
function started({ modules }: Project, listen: string, waits = false): string {
  if (modules === 'commonjs') return `inbox.start().then(() => ${listen})`
  return `await inbox.start()\n${waits ? 'await ' : ''}${listen}`
}

const port = 'Number(process.env.PORT ?? 3000)'

const programs: Readonly<Record<'express' | 'fastify' | 'hono' | 'node', (project: Project) => string>> = {
  express: (project) => `
import express from 'express'
import { expressHandler } from 'hookonce/express'
import { inbox } from './webhooks/inbox'

const app = express()
app.use(expressHandler(inbox)) // serves /webhooks/<source>
app.use(express.json())

${started(project, `app.listen(${port})`)}`,
  fastify: (project) => `
import Fastify from 'fastify'
import { fastifyPlugin } from 'hookonce/fastify'
import { inbox } from './webhooks/inbox'

const app = Fastify()
app.register(fastifyPlugin(inbox)) // serves /webhooks/<source>
app.addHook('onClose', () => inbox.stop())

${started(project, `app.listen({ port: ${port} })`, true)}`,
  hono: (project) => `
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { honoHandler } from 'hookonce/hono'
import { inbox } from './webhooks/inbox'

const app = new Hono()
app.all('/webhooks/:source', honoHandler(inbox))

${started(project, `serve({ fetch: app.fetch, port: ${port} })`)}`,
  node: (project) => `
import { createServer } from 'node:http'
import { nodeHandler } from 'hookonce/node'
import { inbox } from './webhooks/inbox'

const server = createServer(nodeHandler(inbox)) // serves /webhooks/<source>

${started(project, `server.listen(${port})`)}

process.once('SIGTERM', () => inbox.stop().then(() => process.exit()))`,
}

function configuration(project: Project, sender: Sender): string {
  const store = project.database === 'postgres' ? `env('DATABASE_URL')` : `'sqlite:events.db'`
  return `
import { defineConfig, env } from 'hookonce'
import { ${sender.key} } from 'hookonce/providers'
import { handlers } from './webhooks/handlers'

export default defineConfig({
  store: ${store},
  sources: { ${sourceText(sender)} },
  handlers,
  server: { port: 3000 },
})`
}

/** The path also fits below `src`, which has both folders. */
const nextRoute = `import { nextRoute } from 'hookonce/next'
import { inbox } from '../../../lib/inbox'

export const { GET, POST } = nextRoute(inbox)
`

const nextInstrumentation = `export async function register() {
  if (process.env.NEXT_RUNTIME !== 'nodejs') return
  const { inbox } = await import('./lib/inbox')
  await inbox().start()
}
`

function nextInbox(project: Project, sender: Sender): string {
  return `
import { createInbox, env } from 'hookonce'
import { nextInbox } from 'hookonce/next'
${inboxImports(project, sender)}
import { handlers } from './handlers'

export const inbox = nextInbox(() => {
  const inbox = createInbox({
    store: ${storeText(project)},
    sources: { ${sourceText(sender)} },
  })
  handlers(inbox)
  return inbox
})`
}

function nestModule(project: Project, sender: Sender): string {
  const { tx } = storeNames(project)
  return `
import { Inject, Module, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common'
import { createInbox, env, type Inbox } from 'hookonce'
${inboxImports(project, sender, `, type ${tx}`)}
import { handlers } from './handlers'

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
}`
}

const nestMain = `
import 'reflect-metadata'
import { Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { expressHandler } from 'hookonce/express'
import { INBOX, InboxModule } from './webhooks/inbox.module'

@Module({ imports: [InboxModule] })
class AppModule {}

async function main() {
  const app = await NestFactory.create(AppModule)
  app.enableShutdownHooks()
  app.use(expressHandler(app.get(INBOX))) // serves /webhooks/<source>
  await app.listen(${port})
}

void main()`
