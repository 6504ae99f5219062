/**
 * The correct code that the examples share: the server reads the raw bytes, answers 500 when handling fails, and writes
 * effects to a file. `/effects` counts them, `/fault` makes the next handling of an event fail.
 */
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export const secret = process.env.WEBHOOK_SECRET ?? 'whsec_an_example_secret_for_this_folder'
const port = Number(process.env.PORT ?? 4200)

/** @param {string} name */
export const folderOf = (name) => join(process.env.FOLDER ?? join(tmpdir(), 'hookonce-broken'), name)

/**
 * @typedef {{ id: string, type: string }} Event
 * @typedef {{ ship: (event: Event) => Promise<void>, lines: (file: string) => Promise<string[]>,
 *   append: (file: string, line: string) => Promise<void>, create: (file: string) => Promise<boolean> }} Shop
 */

/**
 * Serves POST /webhooks. `receive` returns the HTTP status; an error is a 500.
 * @param {string} name
 * @param {(raw: Buffer, headers: import('node:http').IncomingHttpHeaders, shop: Shop) => Promise<number>} receive
 */
export async function endpoint(name, receive) {
  const folder = folderOf(name)
  await mkdir(folder, { recursive: true })
  /** @type {Set<string>} */
  const faults = new Set()
  /** @param {string} file */
  const lines = async (file) =>
    (await readFile(join(folder, file), 'utf8').catch(() => '')).split('\n').slice(0, -1)
  /** @type {Shop} */
  const shop = {
    lines,
    append: (file, line) => appendFile(join(folder, file), `${line}\n`),
    // Only one of several concurrent calls creates the file, like a unique constraint in a database.
    create: (file) =>
      writeFile(join(folder, encodeURIComponent(file)), '', { flag: 'wx' }).then(
        () => true,
        (error) => {
          if (error.code === 'EEXIST') return false
          throw error
        },
      ),
    // The effect: a parcel is sent to a customer. It takes some time, and it can fail.
    async ship(event) {
      await sleep(20)
      if (faults.delete(event.id)) throw new Error('the warehouse did not answer')
      await shop.append('effects', event.id)
    },
  }

  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost')
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const raw = Buffer.concat(chunks)
    let status = 404
    let answer = ''
    try {
      if (url.pathname === '/effects') {
        const wanted = url.searchParams.get('id')
        const effects = await lines('effects')
        answer = JSON.stringify({ effects: effects.filter((id) => wanted === null || id === wanted).length })
        status = 200
      } else if (url.pathname === '/fault') {
        faults.add(JSON.parse(raw.toString()).event_id)
        status = 204
      } else if (url.pathname === '/webhooks') {
        status = await receive(raw, request.headers, shop)
      }
    } catch {
      status = 500
    }
    response.writeHead(status, { 'content-type': 'application/json' }).end(answer)
  })
  server.listen(port, '127.0.0.1', async () => {
    const address = /** @type {import('node:net').AddressInfo} */ (server.address())
    await writeFile(join(folder, 'pid'), String(process.pid))
    console.log(`${name}: http://127.0.0.1:${address.port}/webhooks`)
  })
}
