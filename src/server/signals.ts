/** The life of a process: it runs until it is told to stop, ends what it began, and leaves. A second signal means now. */
import cluster from 'node:cluster'
import type { Inbox } from '../inbox.js'
import type { HookonceServer } from './server.js'

/** What is told to stop: a server (which stops its inbox), or an inbox alone for a worker. */
export type Running =
  | { readonly server: HookonceServer; readonly drainMs?: number }
  | { readonly inbox: Inbox; readonly drainMs?: number }

export interface SignalOptions {
  /** Told at the first signal, with its name. */
  readonly onStop?: (signal: string) => void
  /** Ends it like a signal does. */
  readonly stop?: AbortSignal
}

/** Where a process of a cluster hears that its parent wants it to stop: a signal could reach it twice. */
export const STOP_WORD = 'hookonce:stop'
export const NOW_WORD = 'hookonce:now'

/** Set in the processes `runProcesses` starts. Others may start this program with a channel too, and signal it by SIGINT. */
export const PROCESS_VARIABLE = 'HOOKONCE_PROCESS'

export function isClusterProcess(): boolean {
  return process.env[PROCESS_VARIABLE] !== undefined && process.send !== undefined
}

/**
 * Resolves with the exit code when everything has stopped: 0, or 1 when a second signal cut it short. The process should
 * then exit by itself or be ended: `process.exit(await runUntilSignal({ server }))`.
 */
export function runUntilSignal(running: Running, options: SignalOptions = {}): Promise<number> {
  return new Promise((resolve) => {
    let told = false
    // While its store is away a worker has nothing that keeps a process, and would leave without a word.
    const alive = setInterval(() => {}, 2 ** 30)
    const end = (code: number) => {
      clearInterval(alive)
      process.off('SIGTERM', onSignal).off('SIGINT', onSignal)
      process.off('message', onWord).off('disconnect', onGone)
      if (isClusterProcess() && process.connected) process.disconnect() // the channel would keep it alive
      options.stop?.removeEventListener('abort', onAbort)
      resolve(code)
    }
    const onSignal = (signal: string) => {
      // A terminal sends SIGINT to the parent of a cluster as well, and the parent tells its processes.
      if (isClusterProcess() && signal === 'SIGINT') return
      if (!told) return begin(signal)
      void close(running, 0)
      end(1)
    }
    const begin = (reason: string) => {
      if (told) return
      told = true
      options.onStop?.(reason)
      close(running, running.drainMs).then(
        () => end(0),
        () => end(1),
      )
    }
    const onWord = (word: unknown) => {
      if (word === STOP_WORD) begin('the parent')
      if (word === NOW_WORD) {
        void close(running, 0)
        end(1)
      }
    }
    const onGone = () => begin('the end of the parent')
    const onAbort = () => begin('the caller')
    process.on('SIGTERM', onSignal).on('SIGINT', onSignal)
    if (isClusterProcess()) {
      // Node ends a process at once when its parent is gone, unless it believes that this was meant.
      if (cluster.worker) cluster.worker.exitedAfterDisconnect = true
      process.on('message', onWord).on('disconnect', onGone)
    }
    options.stop?.addEventListener('abort', onAbort)
  })
}

function close(running: Running, deadlineMs: number | undefined): Promise<void> {
  const options = deadlineMs === undefined ? {} : { deadlineMs }
  return 'server' in running ? running.server.close(options) : running.inbox.stop(options)
}
