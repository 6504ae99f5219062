/**
 * Runs a server or an inbox until a signal stops it. A second signal stops it at once. After SIGTERM a server still
 * accepts requests for `lameDuckMs`; SIGINT comes from a terminal, where no load balancer has to notice.
 */
import cluster from 'node:cluster'
import type { Inbox } from '../inbox.js'
import type { HookonceServer } from './server.js'

/** A server (which stops its inbox), or the inbox of a worker. */
export type Running =
  | { readonly server: HookonceServer; readonly drainMs?: number }
  | { readonly inbox: Inbox; readonly drainMs?: number }

export interface SignalOptions {
  /** Called at the first signal, with its name. */
  readonly onStop?: (signal: string) => void
  /** Stops it as SIGINT does. */
  readonly stop?: AbortSignal
}

const CALLER = 'the caller'

/** Messages by which the parent of a cluster stops its processes. A signal could reach a process twice. */
export const STOP_MESSAGE = 'hookonce:stop'
export const NOW_MESSAGE = 'hookonce:now'

/**
 * Set in the processes that `runProcesses` starts. A channel alone is no proof: other programs may start this one with a
 * channel, and stop it by SIGINT.
 */
export const PROCESS_VARIABLE = 'HOOKONCE_PROCESS'

export function isClusterProcess(): boolean {
  return process.env[PROCESS_VARIABLE] !== undefined && process.send !== undefined
}

/**
 * Resolves with the exit code when everything has stopped: 0, or 1 when a second signal stopped it at once. Then end the
 * process: `process.exit(await runUntilSignal({ server }))`.
 */
export function runUntilSignal(running: Running, options: SignalOptions = {}): Promise<number> {
  return new Promise((resolve) => {
    let stopping = false
    // While its store is unavailable, a worker has no open handle, and the process would end silently.
    const alive = setInterval(() => {}, 2 ** 30)
    const end = (code: number) => {
      clearInterval(alive)
      process.off('SIGTERM', onSignal).off('SIGINT', onSignal)
      process.off('message', onMessage).off('disconnect', onDisconnect)
      if (isClusterProcess() && process.connected) process.disconnect() // an open channel keeps the process alive
      options.stop?.removeEventListener('abort', onAbort)
      resolve(code)
    }
    const onSignal = (signal: string) => {
      // A terminal sends SIGINT to the parent of a cluster as well, and the parent stops its processes by a message.
      if (isClusterProcess() && signal === 'SIGINT') return
      if (!stopping) return begin(signal)
      void close(running, 0)
      end(1)
    }
    const begin = (reason: string) => {
      if (stopping) return
      stopping = true
      options.onStop?.(reason)
      close(running, running.drainMs, !['SIGINT', CALLER].includes(reason)).then(
        () => end(0),
        () => end(1),
      )
    }
    const onMessage = (message: unknown) => {
      if (message === STOP_MESSAGE) begin('the parent')
      if (message === NOW_MESSAGE) {
        void close(running, 0)
        end(1)
      }
    }
    const onDisconnect = () => begin('the end of the parent')
    const onAbort = () => begin(CALLER)
    process.on('SIGTERM', onSignal).on('SIGINT', onSignal)
    if (isClusterProcess()) {
      // Without this, Node ends a process at once when its parent has ended.
      if (cluster.worker) cluster.worker.exitedAfterDisconnect = true
      process.on('message', onMessage).on('disconnect', onDisconnect)
    }
    options.stop?.addEventListener('abort', onAbort)
  })
}

function close(running: Running, deadlineMs: number | undefined, lameDuck = false): Promise<void> {
  const options = deadlineMs === undefined ? {} : { deadlineMs }
  return 'server' in running ? running.server.close({ ...options, lameDuck }) : running.inbox.stop(options)
}
