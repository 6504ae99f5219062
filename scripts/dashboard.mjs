/**
 * Builds the dashboard. A part of `npm run build`, after the compiler: the types of the API are generated from the built
 * server, vite writes the files to `dist/dashboard`, and a module with the same files, compressed, is written for the
 * server. A step whose input has not changed is skipped.
 */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'

const root = fileURLToPath(new URL('..', import.meta.url))
const source = join(root, 'dashboard')
const built = join(root, 'dist/dashboard')
const filesModule = join(root, 'dist/server/admin/dashboard/files.js')
const schemaFile = join(source, 'src/api/schema.d.ts')

const types = /** @type {Record<string, string>} */ ({
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
})

/** The types of the API, as text. */
export async function generateSchema() {
  const [{ createInbox, silentLog }, { admin }] = await Promise.all(
    ['dist/index.js', 'dist/server/index.js'].map((file) => import(pathToFileURL(join(root, file)).href)),
  )
  const inbox = createInbox({ store: 'sqlite::memory:', sources: {}, log: silentLog })
  const handler = admin(inbox, { authorize: () => ({ actor: 'build', role: 'admin' }) })
  const response = await handler.fetch(new Request('http://localhost/api/openapi.json'))
  const description = await response.json()
  await handler.close()
  await inbox.stop()
  const { default: generate, astToString } = await import('openapi-typescript')
  const text = astToString(await generate(description, { alphabetize: true }))
  return `/** Generated from the OpenAPI description of the admin API by \`npm run build\`. */\n${text}`
}

/** Whether the input of a step has changed since its last run; the second part notes that it has run. */
async function changed(/** @type {string} */ step, /** @type {readonly string[]} */ paths) {
  const hash = createHash('sha256')
  for (const path of paths) {
    for (const file of await filesBelow(path)) {
      hash.update(`${relative(root, file)}\0`).update(await readFile(file))
    }
  }
  const digest = hash.digest('hex')
  const stamp = join(root, `dist/.dashboard-${step}`)
  const before = await readFile(stamp, 'utf8').catch(() => '')
  return { is: before !== digest, done: () => writeFile(stamp, digest) }
}

/** @returns {Promise<string[]>} */
async function filesBelow(/** @type {string} */ path) {
  if ((await stat(path)).isFile()) return [path]
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

async function writeSchema() {
  const routes = (await filesBelow(join(root, 'dist/server/admin'))).filter(
    (file) => file.endsWith('.js') && file !== filesModule,
  )
  const input = await changed('schema', [...routes, schemaFile, join(root, 'dist/model.js')])
  if (!input.is) return
  const text = await generateSchema()
  if ((await readFile(schemaFile, 'utf8').catch(() => '')) !== text) await writeFile(schemaFile, text)
  await (await changed('schema', [...routes, schemaFile, join(root, 'dist/model.js')])).done()
}

async function buildFiles() {
  const input = await changed('files', [source, join(root, 'package-lock.json')])
  if (!input.is && existsSync(join(built, 'index.html'))) return
  const { build } = await import('vite')
  await build({ configFile: join(source, 'vite.config.ts'), logLevel: 'warn' })
  await input.done()
}

async function writeModule() {
  const input = await changed('module', [built])
  if (!input.is && (await readFile(filesModule, 'utf8')).includes('gzip:')) return
  const entries = []
  for (const file of await filesBelow(built)) {
    const type = types[extname(file)]
    if (type === undefined) continue
    const path = `/${relative(built, file).split(sep).join('/')}`
    const gzip = gzipSync(await readFile(file), { level: 9 }).toString('base64')
    entries.push(`  ${JSON.stringify(path)}: { type: ${JSON.stringify(type)}, gzip: '${gzip}' },`)
  }
  await writeFile(filesModule, `export const files = {\n${entries.join('\n')}\n};\n`)
  await input.done()
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await mkdir(built, { recursive: true })
  await writeSchema()
  await buildFiles()
  await writeModule()
}
