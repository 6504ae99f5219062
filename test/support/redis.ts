/** A real Redis server for tests, which they may freeze, kill, flush and restart. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RedisClient } from 'hookonce/redis'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { freePort } from './free-port.js'

export interface TestRedis {
  readonly url: string
  /** False for a server that was given: it is not ours to stop. */
  readonly own: boolean
  freeze(): void
  thaw(): void
  /** Removes all keys, as an operator does. */
  flush(): Promise<void>
  kill(): Promise<void>
  /** Starts again, empty, on the same port. */
  restart(): Promise<void>
  remove(): Promise<void>
}

export const givenRedis = process.env.HOOKONCE_TEST_REDIS_URL

export async function startRedis(options: readonly string[] = []): Promise<TestRedis> {
  if (givenRedis && options.length === 0) return givenServer(givenRedis)
  const folder = await mkdtemp(join(tmpdir(), 'hookonce-redis-'))
  const port = await freePort()
  let server: ChildProcess

  async function start(): Promise<void> {
    const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '']
    server = spawn('redis-server', [...args, ...options], { stdio: ['ignore', 'pipe', 'inherit'] })
    let said = ''
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.once('exit', () => reject(new Error(`redis-server did not start:\n${said}`)))
      server.stdout!.on('data', (chunk) => {
        said += String(chunk)
        if (said.includes('Ready to accept connections')) resolve()
      })
    })
  }

  async function kill(): Promise<void> {
    if (server.exitCode !== null || server.signalCode !== null) return
    server.kill('SIGKILL')
    await once(server, 'exit')
  }

  await start()
  const killAtExit = () => void server.kill('SIGKILL')
  process.once('exit', killAtExit)
  return {
    url: `redis://127.0.0.1:${port}`,
    own: true,
    freeze: () => void server.kill('SIGSTOP'),
    thaw: () => void server.kill('SIGCONT'),
    async flush() {
      const { flush, close } = await clients.ioredis!(`redis://127.0.0.1:${port}`)
      await flush()
      await close()
    },
    kill,
    async restart() {
      await kill()
      await start()
    },
    async remove() {
      process.off('exit', killAtExit)
      await kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function givenServer(url: string): TestRedis {
  const not = () => {
    throw new Error('The Redis server was given by HOOKONCE_TEST_REDIS_URL and is not ours to stop.')
  }
  return {
    url,
    own: false,
    freeze: not,
    thaw: not,
    flush: not,
    kill: not,
    restart: not,
    remove: async () => {},
  }
}

export interface TestClient {
  readonly client: RedisClient
  flush(): Promise<void>
  close(): Promise<void>
}

/** Both clients, connected. */
export const clients: Record<string, (url: string) => Promise<TestClient>> = {
  'node-redis': async (url) => {
    const client = createClient({ url, socket: { reconnectStrategy: 50 } })
    client.on('error', () => {})
    await client.connect()
    return {
      client,
      flush: async () => void (await client.flushAll()),
      close: async () => client.destroy(),
    }
  },
  ioredis: async (url) => {
    const client = new Redis(url, { lazyConnect: true, retryStrategy: () => 50, maxRetriesPerRequest: null })
    client.on('error', () => {})
    await client.connect()
    return {
      client,
      flush: async () => void (await client.flushall()),
      close: async () => client.disconnect(),
    }
  },
}
