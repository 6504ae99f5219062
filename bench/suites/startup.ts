/**
 * From the start of a process to its first acknowledgement: the imports, the store, and one signed delivery. The stores
 * exist already, as after a restart; `new file` and `new schema` include the migrations.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Suite } from '../suite.js'
import { residentBytes } from '../support/cpu.js'
import { load } from '../support/load.js'
import { SECRET, stripeRequests } from '../support/requests.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const listen = `server.listen(0, '127.0.0.1', () => console.log(server.address().port))`

const bare = `
  import { createServer } from 'node:http'
  const server = createServer((request, response) => request.resume().on('end', () => response.end('{}')))
  ${listen}`

const handwritten = (url: string) => `
  import express from 'express'
  import pg from 'pg'
  import { createServer } from 'node:http'
  const pool = new pg.Pool({ connectionString: ${JSON.stringify(url)} })
  const app = express()
  app.post('/webhooks/stripe', express.raw({ type: '*/*' }), async (request, response) => {
    await pool.query('select 1')
    response.json({})
  })
  const server = createServer(app)
  ${listen}`

const hookonce = (store: string) => `
  import { createServer } from 'node:http'
  import { createInbox } from 'hookonce'
  import { nodeHandler } from 'hookonce/node'
  import { stripe } from 'hookonce/providers'
  const log = { debug() {}, info() {}, warn() {}, error: console.error }
  const inbox = createInbox({ store: ${JSON.stringify(store)}, sources: { stripe: stripe({ secret: ${JSON.stringify(SECRET)} }) }, log })
  inbox.on('stripe', '*', () => {})
  await inbox.start()
  const server = createServer(nodeHandler(inbox))
  ${listen}`

export const startup: Suite = {
  name: 'startup',
  title: 'Start-up of a process',
  minutes: 1,
  async run(bench) {
    const folder = bench.folder()
    const url = await bench.database()
    const schemas = new URL(url)
    let fresh = 0
    const programs: Record<string, () => Promise<string>> = {
      'bare `node:http`': async () => bare,
      'Express + pg': async () => handwritten(url),
      'hookonce, SQLite': async () => hookonce(`sqlite:${folder}/events.db`),
      'hookonce, SQLite, new file': async () => hookonce(`sqlite:${folder}/fresh-${fresh++}.db`),
      'hookonce, PostgreSQL': async () => hookonce(schemas.href),
      'hookonce, PostgreSQL, new schema': async () => hookonce(await bench.database()),
    }
    const names = Object.keys(programs)
    // The first start of these two makes the file and the schema.
    for (const name of ['hookonce, SQLite', 'hookonce, PostgreSQL']) await start(await programs[name]!())
    const samples = await bench.rounds({
      title: 'starts',
      sides: names,
      most: 7,
      measure: async (name) => start(await programs[name]!()),
    })
    return {
      tables: [
        {
          title: 'A plain Node process, without a bundler',
          head: ['program', 'first acknowledgement ms', 'RSS then MB'],
          rows: names.map((name) => [name, samples.of(name, 'ms'), samples.of(name, 'rss')]),
        },
      ],
      figures: {
        express: samples.of('Express + pg', 'ms'),
        sqlite: samples.of('hookonce, SQLite', 'ms'),
        postgres: samples.of('hookonce, PostgreSQL', 'ms'),
      },
    }
  },
}

async function start(program: string): Promise<{ ms: number; rss: number }> {
  const requests = stripeRequests(1)
  const startedAt = performance.now()
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const port = await firstLine(child)
    await load(Number(port), 1, requests)
    return { ms: performance.now() - startedAt, rss: residentBytes(child.pid!) / 1e6 }
  } finally {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stdout! }).once('line', resolve)
    child.once('exit', (code) => reject(new Error(`The program ended with ${code} before it listened.`)))
  })
}
