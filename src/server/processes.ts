/**
 * Several processes on one port, with node:cluster. Each is a complete server with its own inbox; they share the store. A
 * process that dies is started again, with growing pauses if it keeps dying. When a process ends before any of them has
 * listened, the reason is an error of the program or its configuration, so all of them are stopped.
 */
import cluster, { type Worker } from 'node:cluster'
import type { Logger } from '../log.js'
import { checkOptions, whole } from '../options.js'
import { isClusterProcess, NOW_MESSAGE, PROCESS_VARIABLE, STOP_MESSAGE } from './signals.js'

export interface ProcessesOptions {
  readonly processes: number
  readonly log: Logger
  /**
   * Time that the processes have to stop before they are killed. Default 10,000, a little more than the server's
   * `drainMs`.
   */
  readonly drainMs?: number
  /** The first pause before a process is started again; doubled up to 30 seconds. Default 200. */
  readonly restartMs?: number
}

const LONGEST_PAUSE_MS = 30_000
/** A process that has run for this time resets the growing pauses. */
const STEADY_MS = 30_000

/**
 * With one process, calls `run` here. With several, starts them with the same program and arguments, and each calls
 * `run`. Resolves with the exit code: that of `run`, or 1 when any of the processes failed.
 */
export function runProcesses(options: ProcessesOptions, run: () => Promise<number>): Promise<number> {
  const { processes } = options
  checkOptions('server.processes', processes, whole(1))
  return processes === 1 || isClusterProcess() ? run() : supervise(options)
}

function supervise({ processes, log, drainMs = 10_000, restartMs = 200 }: ProcessesOptions): Promise<number> {
  const pauses = new Set<NodeJS.Timeout>()
  let everListened = false
  let failures = 0
  let stopping = false
  let exitCode = 0
  let finish: (code: number) => void = () => {}

  function start(): void {
    const startedAt = performance.now()
    const child = cluster.fork({ [PROCESS_VARIABLE]: '1' })
    child.once('listening', () => {
      everListened = true
    })
    child.once('exit', (code: number | null, signal: string | null) => {
      const how = signal ?? code ?? 'unknown'
      if (stopping) stopped(how)
      else if (everListened) startAgain(how, performance.now() - startedAt)
      else {
        log.error({ step: 'process', how }, 'a process ended before it listened')
        exitCode = 1
        stop()
      }
    })
  }

  function startAgain(how: string | number, ranMs: number): void {
    failures = ranMs > STEADY_MS ? 1 : failures + 1
    const pauseMs = Math.min(LONGEST_PAUSE_MS, restartMs * 2 ** (failures - 1))
    log.error({ step: 'process', how, pauseMs }, 'a process ended; another is started')
    const pause = setTimeout(() => {
      pauses.delete(pause)
      start()
    }, pauseMs)
    pauses.add(pause)
  }

  function stop(): void {
    sendAll(stopping ? NOW_MESSAGE : STOP_MESSAGE)
    if (stopping) return
    stopping = true
    for (const pause of pauses) clearTimeout(pause)
    if (children().length === 0) finish(exitCode)
    setTimeout(() => {
      for (const child of children()) child.process.kill('SIGKILL')
    }, drainMs).unref()
  }

  function stopped(how: string | number): void {
    if (how !== 0) exitCode = 1
    if (children().length === 0) finish(exitCode)
  }

  return new Promise((resolve) => {
    const onSignal = () => stop()
    finish = (code) => {
      process.off('SIGTERM', onSignal).off('SIGINT', onSignal)
      resolve(code)
    }
    process.on('SIGTERM', onSignal).on('SIGINT', onSignal)
    for (let i = 0; i < processes; i++) start()
  })
}

/** The processes that run. A killed process stays in the list of the cluster until its channel is closed. */
function children(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter(
    (child) => child !== undefined && !child.isDead(),
  ) as Worker[]
}

function sendAll(message: string): void {
  for (const child of children()) if (child.isConnected()) child.send(message, () => {}) // it may have ended already
}
