/** TLS, passwords and several hosts, against real servers with certificates made by openssl. */
import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type PostgresOptions, postgres } from 'hookonce/postgres'
import type { NewDelivery } from 'hookonce/testing/contracts'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startLine } from '../support/line.js'
import { startPostgres, type TestPostgres } from '../support/postgres.js'
import { serverTmpdir, serverUser } from '../support/postgres-native.mjs'
import { afterwards } from '../support/serving.js'

let folder: string
let server: TestPostgres
const file = (name: string) => join(folder, name)
const openssl = (...args: string[]) =>
  execFileSync(process.env.HOOKONCE_TEST_OPENSSL ?? 'openssl', args, { cwd: folder, stdio: 'pipe' })

/** A key and a certificate that the authority has signed. */
function certificate(name: string, subject: string, extension: string): void {
  openssl(
    'req',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-keyout',
    `${name}.key`,
    '-out',
    `${name}.csr`,
    '-subj',
    subject,
  )
  writeFileSync(file(`${name}.ext`), extension)
  const signing = [
    '-CA',
    'ca.pem',
    '-CAkey',
    'ca.key',
    '-CAcreateserial',
    '-days',
    '30',
    '-extfile',
    `${name}.ext`,
  ]
  openssl('x509', '-req', '-in', `${name}.csr`, '-out', `${name}.pem`, ...signing)
}

beforeAll(async () => {
  folder = mkdtempSync(join(serverTmpdir(), 'hookonce-tls-'))
  chmodSync(folder, 0o755)
  openssl(
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
    '-subj',
    '/CN=test authority',
    '-days',
    '30',
  )
  certificate('server', '/CN=localhost', 'subjectAltName = DNS:localhost')
  certificate('client', '/CN=by_certificate', 'extendedKeyUsage = clientAuth')
  writeFileSync(
    file('hba.conf'),
    `local all all trust
host all postgres,reader all trust
hostssl all by_certificate all cert
hostssl all by_password all scram-sha-256
`,
  )
  const user = serverUser()
  for (const name of ['server.key', 'server.pem', 'ca.pem', 'hba.conf']) {
    if (user) chownSync(file(name), user.uid, user.gid)
    chmodSync(file(name), name.endsWith('.key') ? 0o600 : 0o644)
  }
  server = await startPostgres({
    settings: {
      listen_addresses: 'localhost',
      ssl: 'on',
      ssl_cert_file: file('server.pem'),
      ssl_key_file: file('server.key'),
      ssl_ca_file: file('ca.pem'),
      hba_file: file('hba.conf'),
    },
  })
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  await client.query(`create role by_certificate login superuser;
    create role by_password login superuser password 'first'`)
  await client.end()
  const store = postgres({ url: server.url })
  await store.migrate()
  await store.close()
})
afterAll(async () => {
  await server?.remove()
  await rm(folder, { recursive: true, force: true })
})

function open(url: string, options: Partial<PostgresOptions> = {}) {
  const store = postgres({ url, ...options })
  afterwards(() => store.close())
  return store
}

let events = 0
function delivery(): NewDelivery {
  const event = {
    id: `e${events++}`,
    type: 't',
    reference: null,
    contentHash: null,
    guardHash: null,
  }
  return {
    source: 'shop',
    headers: {},
    body: Buffer.from('{}'),
    events: [event],
    contentGuard: 'review',
  }
}

const address = (user: string, query: string, host = 'localhost') =>
  `postgres://${user}@${host}:${server.port}/postgres?${query}`
const recorded = async (store: ReturnType<typeof open>) => (await store.record([delivery()]))[0]![0]!.status

/** By a name that no other store uses: the server may still be ending the connections of a store that was closed. */
async function usesTls(name: string): Promise<boolean[]> {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  const { rows } = await client.query(
    'select distinct s.ssl from pg_stat_ssl s join pg_stat_activity a using (pid) where a.application_name = $1',
    [name],
  )
  await client.end()
  return rows.map(({ ssl }) => ssl)
}

describe('TLS', () => {
  test('the certificate of the server is checked against the authority of the URL', async () => {
    const query = `sslmode=verify-full&sslrootcert=${file('ca.pem')}&application_name=checked`
    expect(await recorded(open(address('postgres', query)))).toBe('recorded')
    expect(await usesTls('checked')).toEqual([true])
  })

  test('an unknown authority and another host name are refused, and the error says what to set', async () => {
    await expect(recorded(open(address('postgres', 'sslmode=verify-full')))).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringMatching(/not signed by a known authority; set sslrootcert/),
    })
    const query = `sslmode=verify-full&sslrootcert=${file('ca.pem')}`
    await expect(recorded(open(address('postgres', query, '127.0.0.1')))).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringMatching(/for another host/),
    })
    expect(await recorded(open(address('postgres', 'sslmode=no-verify')))).toBe('recorded')
  })

  test('a client is known by its certificate', async () => {
    const query = `sslmode=verify-full&sslrootcert=${file('ca.pem')}`
    await expect(recorded(open(address('by_certificate', query)))).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringMatching(/28000: .*check pg_hba.conf/),
    })
    const files = `sslcert=${file('client.pem')}&sslkey=${file('client.key')}`
    expect(await recorded(open(address('by_certificate', `${query}&${files}`)))).toBe('recorded')
  })

  test('a file that is missing is an error of the options', () => {
    expect(() => open(address('postgres', 'sslmode=verify-full&sslrootcert=/nowhere/ca.pem'))).toThrow(
      /names the file \/nowhere\/ca.pem, which cannot be read \(ENOENT\); check sslrootcert/,
    )
  })
})

test('a password that changes is asked for at each new connection', async () => {
  let password = 'first'
  let asked = 0
  const url = address('by_password', `sslmode=verify-full&sslrootcert=${file('ca.pem')}`)
  const store = open(url, {
    password: async () => {
      asked++
      return password
    },
  })
  expect(await recorded(store)).toBe('recorded')
  const before = asked
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  await client.query(`alter role by_password password 'second'`)
  password = 'second'
  await client.query(`select pg_terminate_backend(pid) from pg_stat_activity where usename = 'by_password'`)
  await client.end()
  await expect.poll(() => recorded(store).catch(() => 'not yet')).toBe('recorded')
  expect(asked).toBeGreaterThan(before)
  await expect(recorded(open(url, { password: 'wrong' }))).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
    message: expect.stringMatching(/28P01: the server refused the password/),
  })
})

describe('several hosts in the URL', () => {
  test('a connection goes to the one that accepts writes, also after they have changed places', async () => {
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    await client.query('create role reader superuser login')
    await client.query('alter role reader set default_transaction_read_only = on')
    await client.end()
    // Two addresses of one server: what a role may do stands for what a standby may do.
    const [first, second] = [await startLine(server.url), await startLine(server.url)]
    const port = (line: { url: string }) => new URL(line.url).port
    const hosts = `127.0.0.1:1,127.0.0.1:${port(first)},127.0.0.1:${port(second)}`
    try {
      const store = open(`postgres://postgres@${hosts}/postgres?target_session_attrs=read-write`)
      expect(await recorded(store)).toBe('recorded')
      first.cut('refuse')
      await expect.poll(() => recorded(store).catch(() => 'not yet')).toBe('recorded')
      first.join()
      second.cut('refuse')
      await expect.poll(() => recorded(store).catch(() => 'not yet')).toBe('recorded')
      const reading = open(`postgres://reader@${hosts}/postgres?target_session_attrs=read-write`)
      await expect(recorded(reading)).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
        message: expect.stringMatching(/25006: the server is read-only/),
      })
    } finally {
      await Promise.all([first.close(), second.close()])
    }
  })

  test('a standby is passed over for the primary', async () => {
    const primary = await startPostgres()
    await primary.stop()
    const standby = await startPostgres({ standbyOf: primary })
    await primary.restart()
    try {
      const hosts = `127.0.0.1:${standby.port},127.0.0.1:${primary.port}`
      const store = open(`postgres://postgres@${hosts}/postgres?target_session_attrs=read-write&schema=log`)
      await store.migrate()
      expect(store.name).toBe('postgres:log')
      expect(await recorded(store)).toBe('recorded')
      const mistaken = open(`${standby.url}?schema=log`)
      // The schema reaches the standby a little later.
      await expect.poll(() => recorded(mistaken).catch(({ code }) => code)).toBe('STORE_UNAVAILABLE')
      await store.close()
    } finally {
      await Promise.all([standby.remove(), primary.remove()])
    }
  })

  test('a wish that a log cannot have is refused', () => {
    expect(() => open('postgres://a@b,c/d?target_session_attrs=standby')).toThrow(
      /use read-write, primary or any/,
    )
    expect(() => open('postgres://a@b/d?prepare=perhaps')).toThrow(/prepare=perhaps; use true or false/)
  })
})
