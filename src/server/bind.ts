/** Where it listens. What anyone on the network can reach needs a token. */
import type { Server } from 'node:http'
import { type AddressInfo, isIP } from 'node:net'
import { HookonceError } from '../errors.js'
import { isLoopbackHost, withoutBrackets } from '../ip.js'
import type { ServerSettings } from './options.js'

/** The names a browser may call it by: this machine, the address it listens on, and the public one. */
export function hostNames({ host, publicUrl }: Pick<ServerSettings, 'host' | 'publicUrl'>): string[] {
  const hosts = ['localhost', '127.0.0.1', '[::1]']
  if (!isLoopbackHost(host) && !['0.0.0.0', '::', '[::]'].includes(host))
    hosts.push(host.includes(':') && !host.startsWith('[') ? `[${host}]` : host)
  if (publicUrl !== null) hosts.push(new URL(publicUrl).host)
  return hosts
}

export function checkExposure({ host, admin, open }: ServerSettings): void {
  if (isLoopbackHost(host) || admin === false) return
  const guarded = (admin.tokens?.length ?? 0) > 0 || admin.authorize !== undefined
  if (!guarded || open || admin.open) throw new HookonceError('ADMIN_OPEN', { host })
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
