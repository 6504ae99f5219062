/**
 * Chooses among several hosts, as libpq does with target_session_attrs=read-write. It asks all hosts at once, because one
 * that is down must delay nothing, and takes the first that accepts writes. After a failover another host is the primary,
 * so each new connection asks again.
 */
import type { ClientConfig } from 'pg'
import { PromptClient } from './client.js'

/** New connections that begin at the same time share an answer. */
const SHARED_MS = 500
/** Shorter than the pool's limit for a new connection. */
const ASK_MS = 3_000

const isReadOnly = `select pg_catalog.pg_is_in_recovery() or pg_catalog.current_setting('transaction_read_only') = 'on'
  as read_only`

interface Host {
  readonly host: string
  readonly port: number
}

export function choosingClient(urls: readonly string[], readWrite: boolean): typeof PromptClient {
  let choice: Promise<Host> | undefined

  async function ask(connectionString: string, config: ClientConfig): Promise<Host> {
    const { password, ssl } = config
    const client = new PromptClient({ connectionString, password, ssl, connectionTimeoutMillis: ASK_MS })
    client.on('error', () => {})
    try {
      await client.connect()
      if (readWrite) {
        const { rows } = await client.query<{ read_only: boolean }>({
          text: isReadOnly,
          query_timeout: ASK_MS,
        } as never)
        if (rows[0]!.read_only) throw Object.assign(new Error('the server is read-only'), { code: '25006' })
      }
      const { host, port } = client
      return { host, port }
    } finally {
      void client.end().catch(() => {})
    }
  }

  /** A read-only host says more than one that is down. */
  async function choose(config: ClientConfig): Promise<Host> {
    try {
      return await Promise.any(urls.map((url) => ask(url, config)))
    } catch (error) {
      const { errors } = error as AggregateError
      throw errors.find(({ code }) => code === '25006') ?? errors[0]
    }
  }

  return class ChoosingClient extends PromptClient {
    readonly #config: ClientConfig
    constructor(config: ClientConfig) {
      super(config)
      this.#config = config
    }

    // biome-ignore lint/suspicious/noExplicitAny: two overloads, with and without a callback
    override connect(...args: any[]): any {
      if (choice === undefined) {
        choice = choose(this.#config)
        const forget = () => {
          choice = undefined
        }
        choice.then(() => setTimeout(forget, SHARED_MS).unref(), forget)
      }
      const connecting = choice.then(({ host, port }) => {
        Object.assign(this, { host, port })
        return super.connect()
      })
      const [callback] = args
      if (callback === undefined) return connecting
      connecting.then(() => callback(null, this), callback)
    }
  } as typeof PromptClient
}
