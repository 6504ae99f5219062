import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import { type AddressInfo, isIP } from 'node:net'
import { createSecureContext } from 'node:tls'
import { HookonceError, invalid } from '../errors.js'
import { isLoopbackHost, withoutBrackets } from '../ip.js'
import type { ServerSettings } from './options.js'

export function hostNames({ host, publicUrl }: Pick<ServerSettings, 'host' | 'publicUrl'>): string[] {
  const hosts = ['localhost', '127.0.0.1', '[::1]']
  if (!isLoopbackHost(host) && !['0.0.0.0', '::', '[::]'].includes(host))
    hosts.push(host.includes(':') && !host.startsWith('[') ? `[${host}]` : host)
  if (publicUrl !== null) hosts.push(new URL(publicUrl).host)
  return hosts
}

export function checkExposure({ host, admin }: ServerSettings): void {
  if (isLoopbackHost(host) || admin === false) return
  const guarded = (admin.tokens?.length ?? 0) > 0 || admin.authorize !== undefined
  if (!guarded) throw new HookonceError('ADMIN_OPEN', { host })
}

export interface Listening {
  readonly url: string
  readonly host: string
  readonly port: number
}

export function listen(node: Server, { host, port, tls }: ServerSettings): Promise<Listening> {
  const bare = withoutBrackets(host)
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException) => {
      const problem = problems[error.code ?? ''] ?? error.code ?? 'unknown'
      reject(new HookonceError('LISTEN_FAILED', { host, port, problem }, error))
    }
    node.once('error', failed)
    node.listen(port, bare, () => {
      node.off('error', failed)
      const { port: actual } = node.address() as AddressInfo
      const shown = isIP(bare) === 6 ? `[${bare}]` : bare
      resolve({ url: `${tls ? 'https' : 'http'}://${shown}:${actual}`, host: bare, port: actual })
    })
  })
}

const problems: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there',
  EACCES: 'this user may not use that port',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'there is no such host name',
}

export interface TlsOptions {
  /** The certificate chain: a path, or PEM text. */
  readonly cert: string
  /** The private key: a path, or PEM text. */
  readonly key: string
}

export function readTls({ cert, key }: TlsOptions): { cert: string; key: string } {
  const pair = { cert: pem('cert', cert), key: pem('key', key) }
  try {
    createSecureContext(pair)
  } catch {
    // The message of the TLS library may quote the key.
    throw invalid(
      'server.tls',
      'needs a certificate chain (PEM) and the private key that belongs to it; these two do not match',
    )
  }
  return pair
}

function pem(name: 'cert' | 'key', pathOrPem: string): string {
  if (typeof pathOrPem !== 'string' || pathOrPem === '')
    throw invalid(`server.tls.${name}`, 'must be a file path or PEM text')
  if (pathOrPem.includes('-----BEGIN')) return pathOrPem
  try {
    return readFileSync(pathOrPem, 'utf8')
  } catch (error) {
    throw invalid(
      `server.tls.${name}`,
      `names the file ${pathOrPem}, which cannot be read (${(error as NodeJS.ErrnoException).code})`,
    )
  }
}
