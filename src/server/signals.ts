/**
 * Runs a server or an inbox until a signal stops it. A second signal stops it at once. After SIGTERM a server still
 * accepts requests for `lameDuck`; SIGINT comes from a terminal, where no load balancer has to notice.
 */
import type { Duration } from '../duration.js'
import type { Inbox } from '../inbox.js'
import type { HookonceServer } from './server.js'

/** A server (which stops its inbox), or the inbox of a worker. */
export type Running =
  | { readonly server: HookonceServer; readonly drain?: Duration }
  | { readonly inbox: Inbox; readonly drain?: Duration }

export interface SignalOptions {
  /** Called at the first signal, with its name. */
  readonly onStop?: (signal: string) => void
  /** Stops it as SIGINT does. */
  readonly stop?: AbortSignal
}

const CALLER = 'the caller'

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
      options.stop?.removeEventListener('abort', onAbort)
      resolve(code)
    }
    const onSignal = (signal: string) => {
      if (!stopping) return begin(signal)
      void close(running, 0)
      end(1)
    }
    const begin = (reason: string) => {
      if (stopping) return
      stopping = true
      options.onStop?.(reason)
      close(running, running.drain, reason === 'SIGTERM').then(
        () => end(0),
        () => end(1),
      )
    }
    const onAbort = () => begin(CALLER)
    process.on('SIGTERM', onSignal).on('SIGINT', onSignal)
    options.stop?.addEventListener('abort', onAbort)
  })
}

function close(running: Running, deadline: Duration | undefined, lameDuck = false): Promise<void> {
  const options = deadline === undefined ? {} : { deadline }
  return 'server' in running ? running.server.close({ ...options, lameDuck }) : running.inbox.stop(options)
}
