/** A process of the system under test. Its orders run one after the other, whoever gives them. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../test/support/free-port.js'
import { type Line, startLine } from '../../test/support/line.js'

export interface Node {
  readonly name: string
  readonly role: 'intake' | 'worker'
  /** The URL of an intake process behind its line. */
  readonly url: string
  /** The line between senders and this process; workers have none. */
  readonly line: Line | null
  start(): Promise<void>
  /** Ends the process by the signal and starts it again, with changes of its configuration where they are given. */
  restart(signal: 'SIGKILL' | 'SIGTERM', changes?: Partial<Configuration>): Promise<void>
  /** Stops the process for so long, or until the promise is settled. */
  freeze(until: number | Promise<unknown>): Promise<void>
  end(): Promise<void>
}

export interface Configuration {
  readonly concurrency: number
  readonly leaseMs: number
  /** The file of the spool; null for none. */
  readonly spool: string | null
  /** Whether the process has a handler for the type `late`, as the next version of an app has. */
  readonly handlesLate: boolean
}

const script = fileURLToPath(new URL('./node.mjs', import.meta.url))

export async function makeNode(name: string, role: Node['role'], told: object): Promise<Node> {
  const port = await freePort()
  const line = role === 'intake' ? await startLine(`http://127.0.0.1:${port}`) : null
  let configuration: Configuration = { concurrency: 4, leaseMs: 2_000, spool: null, handlesLate: true }
  let child: ChildProcess | null = null
  let last: Promise<void> = Promise.resolve()

  function inTurn(order: () => Promise<void>): Promise<void> {
    const done = last.then(order)
    last = done.catch(() => {})
    return done
  }

  async function start(): Promise<void> {
    const given = JSON.stringify({ ...told, ...configuration, role, port })
    const started = spawn(process.execPath, [script, given], { stdio: ['ignore', 'pipe', 'inherit'] })
    child = started
    const lines = createInterface({ input: started.stdout! })
    await Promise.race([once(lines, 'line'), once(started, 'exit')])
  }

  async function stop(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }

  return {
    name,
    role,
    url: line === null ? '' : line.url.replace(/\/$/, ''),
    line,
    start: () => inTurn(start),
    restart: (signal, changes) =>
      inTurn(async () => {
        await stop(signal)
        configuration = { ...configuration, ...changes }
        await start()
      }),
    freeze: (until) =>
      inTurn(async () => {
        child?.kill('SIGSTOP')
        await (typeof until === 'number' ? sleep(until) : Promise.allSettled([until]))
        child?.kill('SIGCONT')
      }),
    async end() {
      await stop('SIGKILL')
      await line?.close()
    },
  }
}
