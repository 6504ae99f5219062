/** A delivery as a curl command, run by a real bash and a real curl. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { curlCommand } from '#dist/curl.js'

const got: { readonly headers: IncomingHttpHeaders; readonly body: Buffer }[] = []
const node = createServer(async (request, response) => {
  got.push({ headers: request.headers, body: await buffer(request) })
  response.end()
})
let url: string
const flag = join(tmpdir(), `hookonce-pasted-${process.pid}`)

beforeAll(async () => {
  await once(node.listen(0, '127.0.0.1'), 'listening')
  url = `http://127.0.0.1:${(node.address() as AddressInfo).port}/webhooks/shop`
})
afterAll(() => node.close())

const attack = `touch ${flag}`
const hostile: readonly (string | Uint8Array)[] = [
  '',
  '{"id":"evt_1","amount":42}',
  `{"name":"\u001b[201~\n${attack}\n"}`,
  `\u0003\n${attack}\n`,
  `'; ${attack} #`,
  `\\'; ${attack} #`,
  `"; ${attack} #`,
  `$(${attack}) \`${attack}\` !!`,
  `\r${attack}\r`,
  `x & ${attack} & x | ${attack}`,
  '\u009b201~ \u202e turned \u2028 line \ufeff é 🙂',
  '@/etc/hostname',
  '-d @/etc/hostname',
  new Uint8Array([0, 255, 27, 10, 39, 92]),
]

function commandFor(body: string | Uint8Array, headers: Record<string, string> = {}): string {
  const bytes = Buffer.from(body as string)
  return curlCommand({
    url,
    headers,
    text: typeof body === 'string' ? body : null,
    base64: bytes.toString('base64'),
  })
}

test.each(hostile.map((body) => [JSON.stringify(Buffer.from(body as string).toString('latin1')), body]))(
  'the pasted command sends exactly %s and does nothing else',
  async (_, body) => {
    const command = commandFor(body!)
    expect(command).toMatch(/^[\n -~]*$/)
    // The only line ends are those of the command itself.
    expect(command.replaceAll(' \\\n  ', ' ')).not.toContain('\n')
    await promisify(execFile)('bash', ['-c', command])
    expect(got.at(-1)!.body).toEqual(Buffer.from(body as string))
    expect(existsSync(flag)).toBe(false)
  },
)

test.each([`'; ${attack} #`, `\\'; ${attack} #`, 'é \u00fc', '$(id) `id` !!'])(
  'a header %j arrives as it was',
  async (value) => {
    const command = commandFor('{}', { 'x-it': value })
    expect(command).toMatch(/^[\n -~]*$/)
    await promisify(execFile)('bash', ['-c', command])
    expect(got.at(-1)!.headers['x-it']).toBe(value)
    expect(existsSync(flag)).toBe(false)
  },
)

test('a header with control characters, which a server refuses, runs nothing', async () => {
  const command = commandFor('{}', { 'x-it': `\u001b[201~\n${attack}\n` })
  expect(command).toMatch(/^[\n -~]*$/)
  await promisify(execFile)('bash', ['-c', command]).catch(() => {})
  expect(existsSync(flag)).toBe(false)
})

test('a header name that curl would read as a file is left out', () => {
  expect(commandFor('{}', { '@/etc/passwd': '', 'x-a': 'b' })).not.toContain('passwd')
})
