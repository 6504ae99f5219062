/** node-postgres reads most of a URL. This file adds several hosts, and options of the store. */
import pg from 'pg'
import { invalid } from '../../../errors.js'
import type { PostgresOptions } from './pools.js'

export interface Address {
  readonly urls: readonly [string, ...string[]]
  readonly readWrite: boolean
  readonly options: Pick<PostgresOptions, 'schema' | 'prepare' | 'directUrl'>
}

const PARTS = /^(postgres(?:ql)?:\/\/)([^/?#]*@)?([^/?#@]*)(\/[^?#]*)?(?:\?([^#]*))?$/

export function parseAddress(url: string, what = 'The store URL'): Address {
  insistOnAddress(what, url)
  const parts = PARTS.exec(url)
  // Another form that node-postgres takes, such as socket:/var/run/postgresql/?db=shop.
  if (parts === null) return { urls: [url], readWrite: false, options: {} }
  const [, scheme, user = '', hosts = '', database = '', query = ''] = parts
  const params = new URLSearchParams(query)
  const take = (name: string) => {
    const value = params.get(name) ?? undefined
    params.delete(name)
    return value
  }
  const prepare = flagOf(what, 'prepare', take('prepare'))
  // The parameter of Prisma, which Supabase and others put into the addresses they show.
  const pgbouncer = flagOf(what, 'pgbouncer', take('pgbouncer'))
  const options = {
    schema: take('schema'),
    prepare: prepare ?? (pgbouncer ? false : undefined),
    directUrl: take('directUrl'),
  }
  const target = take('target_session_attrs') ?? 'any'
  if (!['any', 'read-write', 'primary'].includes(target))
    throw invalid(
      what,
      `has target_session_attrs=${target}; the log is written to, so use read-write, primary or any`,
    )
  // It means the authorities that Node trusts; node-postgres would look for a file of this name.
  if (params.get('sslrootcert') === 'system') params.delete('sslrootcert')
  const rest = params.size > 0 ? `?${params}` : ''
  const urls = hosts.split(',').map((host) => `${scheme}${user}${host}${database}${rest}`)
  for (const one of urls) checkUrl(what, one)
  return {
    urls: urls as [string, ...string[]],
    readWrite: target !== 'any',
    options: Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)),
  }
}

/** node-postgres would take a URL with another scheme, or a number, for the address of a PostgreSQL server. */
function insistOnAddress(what: string, url: unknown): asserts url is string {
  if (typeof url !== 'string')
    throw invalid(what, `is ${kindOf(url)}; it must be a text such as postgres://user@host/database`)
  if (url.trim() === '')
    throw invalid(
      what,
      'is empty; set it to the address of the database, such as postgres://user@host/database',
    )
  const [, scheme] = /^([a-z][a-z0-9+.-]*):/i.exec(url) ?? []
  if (scheme !== undefined && !/^(postgres|postgresql|socket)$/i.test(scheme))
    throw invalid(what, `begins with ${scheme}:; it must begin with postgres://`)
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  return Array.isArray(value) ? 'a list' : `of type ${typeof value}`
}

function flagOf(what: string, name: string, value: string | undefined): boolean | undefined {
  if (value === undefined) return undefined
  if (value === 'true' || value === 'false') return value === 'true'
  throw invalid(what, `has ${name}=${value}; use true or false`)
}

/** The driver reads the files of certificates when it makes a connection, and fails when one is missing. */
function checkUrl(what: string, url: string): void {
  try {
    new pg.Client({ connectionString: url })
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'EACCES')
      throw invalid(
        what,
        `names the file ${path}, which cannot be read (${code}); check sslrootcert, sslcert and sslkey`,
      )
    throw invalid(
      what,
      'is not understood; write postgres://user@host:port/database, with special characters percent-encoded',
    )
  }
}
