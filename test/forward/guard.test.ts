/** Nothing is connected to that is not public, however it is written: watched at the socket. */
import { Socket } from 'node:net'
import { isHookonceError } from 'hookonce'
import { addDestinations, type Lookup } from 'hookonce/forward'
import { afterAll, afterEach, beforeAll, expect, inject, test, vi } from 'vitest'
import { allowList, isReachable } from '#dist/forward/address.js'
import { checkUrl } from '#dist/forward/guard.js'
import { type Outgoing, retryAfterMs, send } from '#dist/forward/send.js'
import { certificate, certificateKey } from '../support/certificate.js'
import { type Endpoint, startEndpoint, status } from '../support/endpoint.js'
import { onLog, post, quickRetry, shop, until } from '../support/processing.js'
import { hosts, names, urls } from './spellings.js'

let loopback: Endpoint
let loopback6: Endpoint | null = null
let connects = 0
const realConnect = Socket.prototype.connect
const databasePort = Number(new URL(inject('postgresUrl')).port || 5432)

/** Node passes the arguments of `connect` as they came, or as a list with the options first. */
function portOf([first]: readonly unknown[]): number {
  const given = Array.isArray(first) ? first[0] : first
  return Number(typeof given === 'object' && given !== null ? (given as { port?: unknown }).port : given)
}

beforeAll(async () => {
  loopback = await startEndpoint()
  loopback6 = await startEndpoint('::1').catch(() => null)
  vi.spyOn(Socket.prototype, 'connect').mockImplementation(function (this: Socket, ...args: unknown[]) {
    // Other files of this process may still talk to the database.
    if (portOf(args) !== databasePort) connects++
    return Reflect.apply(realConnect, this, args)
  } as never)
})
afterEach(() => {
  connects = 0
})
afterAll(async () => {
  vi.restoreAllMocks()
  await loopback.close()
  await loopback6?.close()
})

const stub: Lookup = async (name) =>
  (names[name] ?? names[name.replace(/\.$/, '')] ?? []).map((address) => ({
    address,
    family: address.includes(':') ? 6 : 4,
  }))

function outgoing(url: URL, more: Partial<Outgoing> = {}): Outgoing {
  return {
    what: 'destination "x"',
    url,
    headers: {},
    body: Buffer.from('{}'),
    timeoutMs: 30_000,
    allow: null,
    ...more,
  }
}

/** As a destination would be used: the URL is checked, then sent to; without the check, too. */
async function refusals(text: string, lookup?: Lookup): Promise<unknown[]> {
  const errors: unknown[] = []
  const note = (error: unknown) => errors.push(error)
  try {
    await send(outgoing(checkUrl('x', text, null), { lookup }))
  } catch (error) {
    note(error)
  }
  const url = URL.canParse(text) ? new URL(text) : null
  if (url?.protocol === 'http:' || url?.protocol === 'https:')
    await send(outgoing(url, { lookup })).catch(note)
  return errors
}

test('the watch at the socket works: what is allowed connects', async () => {
  const answered = await send(outgoing(new URL(loopback.url), { allow: allowList('x', ['127.0.0.1']) }))
  expect(answered.httpStatus).toBe(204)
  expect(connects).toBe(1)
  expect(loopback.connections()).toBe(1)
})

test(`no spelling of an address that is not public is connected to (${hosts.length} hosts)`, async () => {
  expect(new Set(hosts).size).toBeGreaterThan(800)
  const before = loopback.connections()
  const unparsed: string[] = []
  const asked: string[] = []
  for (const host of hosts) {
    for (const text of [`http://${host}:${loopback.port}/`, `https://${host}/`]) {
      const errors = await refusals(text, async (name) => {
        asked.push(name)
        return []
      })
      expect(errors.length, text).toBeGreaterThan(0)
      for (const error of errors) expect(isHookonceError(error), `${text}: ${error}`).toBe(true)
      if (!URL.canParse(text)) unparsed.push(text)
    }
  }
  expect(connects).toBe(0)
  // What is not an address for the parser must not become one for a resolver.
  expect(asked).toEqual([])
  expect(loopback.connections()).toBe(before)
  expect(loopback6?.connections() ?? 0).toBe(0)
  // Most of them are addresses for the parser: the test is about the check, not about bad URLs.
  expect(unparsed.length).toBeLessThan(hosts.length / 4)
})

test('no trick in a URL leads past the check', async () => {
  for (const text of urls(loopback.port)) {
    const errors = await refusals(text, stub)
    expect(errors.length, text).toBeGreaterThan(0)
    for (const error of errors) expect(isHookonceError(error), `${text}: ${error}`).toBe(true)
  }
  expect(connects).toBe(0)
})

test('one address of a name that is not public refuses them all', async () => {
  for (const name of Object.keys(names)) {
    for (const scheme of ['http', 'https'])
      expect(await refusals(`${scheme}://${name}:${loopback.port}/`, stub), name).toHaveLength(2)
  }
  expect(await refusals(`http://localhost:${loopback.port}/`), 'the system resolver').toHaveLength(2)
  expect(connects).toBe(0)
})

test('public addresses are public, up to the borders of the ranges', () => {
  const open = [
    ...[
      '1.1.1.1',
      '8.8.8.8',
      '9.255.255.255',
      '11.0.0.0',
      '100.63.255.255',
      '100.128.0.0',
      '126.255.255.255',
    ],
    ...['128.0.0.0', '168.63.129.15', '168.63.129.17', '169.253.255.255', '169.255.0.0', '172.15.255.255'],
    ...[
      '172.32.0.0',
      '192.0.1.0',
      '192.0.3.0',
      '192.167.255.255',
      '192.169.0.0',
      '198.17.255.255',
      '198.20.0.0',
    ],
    ...['198.51.99.255', '198.51.101.0', '203.0.112.255', '203.0.114.0', '223.255.255.255'],
    ...['2000::1', '2001:200::1', '2001:4860:4860::8888', '2606:4700::1111', '2a00:1450::1', '3ffe::1'],
    ...['::ffff:8.8.8.8', '64:ff9b::808:808', '64:ff9b::8.8.8.8'],
  ]
  for (const address of open) expect(isReachable(address, null), address).toBe(true)
  for (const text of ['', 'example.com', '1.2.3', '1.2.3.4.5', '8.8.8.8 ', '2606:4700::1111%1', '010.8.8.8'])
    expect(isReachable(text, null), text).toBe(false)
})

test('an allow-list opens what it names, in every spelling of it, and nothing else', () => {
  const allow = allowList('x', ['10.1.0.0/16', 'fd00:1::/32', '127.0.0.1'])
  for (const address of [
    '10.1.2.3',
    '::ffff:10.1.2.3',
    '64:ff9b::a01:203',
    'fd00:1::9',
    '127.0.0.1',
    '8.8.8.8',
  ])
    expect(isReachable(address, allow), address).toBe(true)
  for (const address of ['10.2.0.1', '::ffff:10.2.0.1', 'fd00:2::9', '127.0.0.2', '::1', '::10.1.2.3'])
    expect(isReachable(address, allow), address).toBe(false)
  for (const range of [
    '10.0.0.0/33',
    '10.0.0/8',
    '::1/129',
    'x/8',
    '10.0.0.0/8/8',
    '10.0.0.0/',
    '10.0.0.0/-1',
  ])
    expect(() => allowList('x', [range]), range).toThrow('address range')
})

test('the resolver is asked once, and the connection goes to what was checked, by its own name', async () => {
  const other = await startEndpoint('127.0.0.2')
  const asked: string[] = []
  const turning: Lookup = async (name) => {
    asked.push(name)
    return [{ address: asked.length % 2 ? '127.0.0.1' : '127.0.0.2', family: 4 }]
  }
  const url = new URL(`http://rebind.example:${loopback.port}/`)
  const allow = allowList('x', ['127.0.0.1'])
  const before = loopback.connections()
  expect((await send(outgoing(url, { allow, lookup: turning }))).httpStatus).toBe(204)
  expect(asked).toEqual(['rebind.example'])
  expect(loopback.connections()).toBe(before + 1)
  expect(loopback.arrivals.at(-1)!.headers.host).toBe(`rebind.example:${loopback.port}`)
  await expect(send(outgoing(url, { allow, lookup: turning }))).rejects.toMatchObject({
    code: 'DESTINATION_FORBIDDEN',
  })
  expect(other.connections()).toBe(0)
  await other.close()
})

test('a proxy in the environment is not used, and a certificate is checked whatever the environment says', async () => {
  const { createServer } = await import('node:https')
  const secure = createServer({ cert: certificate, key: certificateKey }, (_request, response) =>
    response.end(),
  )
  await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve))
  const { port } = secure.address() as { port: number }
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
  for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'])
    vi.stubEnv(name, `http://127.0.0.1:${loopback.port}`)
  const before = loopback.connections()
  const allow = allowList('x', ['127.0.0.1'])
  const lookup: Lookup = async () => [{ address: '127.0.0.1', family: 4 }]
  const to = (host: string, more: Partial<Outgoing> = {}) =>
    send(outgoing(new URL(`https://${host}:${port}/`), { allow, lookup, ...more }))
  await expect(to('endpoint.test')).rejects.toThrow('DEPTH_ZERO_SELF_SIGNED_CERT')
  await expect(to('another.test', { ca: certificate })).rejects.toThrow('ERR_TLS_CERT_ALTNAME_INVALID')
  expect((await to('endpoint.test', { ca: certificate })).httpStatus).toBe(200)
  expect((await to('127.0.0.1', { ca: certificate })).httpStatus).toBe(200)
  expect(loopback.connections()).toBe(before)
  vi.unstubAllEnvs()
  secure.closeAllConnections()
  await new Promise((resolve) => secure.close(resolve))
})

test('Retry-After is read as seconds or as a date, and as nothing else', () => {
  const now = Date.UTC(2030, 0, 1)
  const cases = [
    [undefined, null],
    ['0', 0],
    ['120', 120_000],
    ['Tue, 01 Jan 2030 00:01:00 GMT', 60_000],
    ['Mon, 01 Jan 2029 00:00:00 GMT', 0],
    ['-5', null],
    ['soon', null],
    ['1e9', null],
    ['9'.repeat(50), null],
  ] as const
  for (const [header, ms] of cases) expect(retryAfterMs(header, now), header).toBe(ms)
})

onLog('SQLite', (bench) => {
  test('each retry of an event asks and checks again', async () => {
    const { inbox } = bench.inbox({
      sources: { shop: shop() },
      processing: { lease: 5_000, poll: 20, retry: quickRetry },
    })
    const answers = ['127.0.0.1', '169.254.169.254', '10.0.0.1']
    const asked: string[] = []
    addDestinations(
      inbox,
      {
        x: {
          url: `http://rebind.example:${loopback.port}/`,
          secret: `whsec_${Buffer.alloc(24, 7).toString('base64')}`,
          allowPrivate: ['127.0.0.1'],
          retry: { maxAttempts: 3, firstDelay: 1, maxDelay: 1 },
        },
      },
      {
        lookup: async () => {
          asked.push(answers[asked.length]!)
          return [{ address: asked.at(-1)!, family: 4 }]
        },
      },
    )
    loopback.answer = status(302, { location: 'http://169.254.169.254/latest/meta-data/' })
    const before = loopback.connections()
    connects = 0
    await post(inbox, { id: 'e1' })
    await inbox.start()
    await until(
      async () => (await inbox.events.stats()).some(({ dead }) => dead === 1),
      'it is a dead letter',
    )
    const details = (await inbox.events.attempts({ source: 'shop/x', id: 'e1' })).map((one) => one.detail)
    expect(details).toEqual([
      expect.stringContaining('302'),
      expect.stringContaining('169.254.169.254, which is not a public address'),
      expect.stringContaining('10.0.0.1, which is not a public address'),
    ])
    expect(asked).toEqual(answers)
    expect(loopback.connections()).toBe(before + 1)
    expect(connects).toBe(1)
  })
})
