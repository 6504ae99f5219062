/** The store's calls to its thread: errors of the store, and notifications from the thread. */
import { HookonceError } from '../../errors.js'
import {
  type Answer,
  type ArgsOf,
  type Call,
  NEWS,
  type ThreadOptions,
  type ValueOf,
  type Verb,
} from './protocol.js'
import { startCallingThread } from './thread-calls.js'
import { threadSource } from './thread-source.js'

export interface ThreadLink {
  call<V extends Verb>(
    verb: V,
    now: number,
    args: ArgsOf<V>,
    transfer?: readonly ArrayBuffer[],
  ): Promise<ValueOf<V>>
}

export interface ThreadListeners {
  readonly onNews: () => void
  /** Called when the time of the log is ahead of the time of a call. */
  readonly onLogTime: (instant: number) => void
}

const NO_TRANSFER: readonly ArrayBuffer[] = []

export function startThread(options: ThreadOptions, { onNews, onLogTime }: ThreadListeners): ThreadLink {
  const thread = startCallingThread<Call>({
    program: { starter: import.meta.url, source: threadSource },
    name: options.readOnly ? 'hookonce-sqlite-reader' : 'hookonce-sqlite-writer',
    options,
    isAnswer(message) {
      if (message === NEWS) {
        onNews()
        return false
      }
      const { logTime } = message as Answer
      if (logTime !== undefined) onLogTime(logTime)
      return true
    },
    unanswered: (verb, problem) =>
      new HookonceError(verb === 'tx.commit' || verb === 'tx.finish' ? 'COMMIT_UNKNOWN' : 'STORE_FAILED', {
        problem,
      }),
  })
  let closed = false

  return {
    call: (verb, now, args, transfer = NO_TRANSFER) =>
      new Promise((resolve, reject) => {
        if (closed) return verb === 'tx.rollback' ? resolve(undefined as never) : reject(closedError(verb))
        closed = verb === 'close'
        const { death } = thread
        if (death !== null) return reject(new HookonceError('STORE_FAILED', { problem: death }))
        const call: Call = { id: thread.nextId(), verb, now, args }
        thread.send(call, transfer, resolve as (value: unknown) => void, reject)
      }),
  }
}

function closedError(verb: Verb): HookonceError {
  return verb.startsWith('tx.')
    ? new HookonceError('TRANSACTION_CLOSED', { problem: 'the store was closed' })
    : new HookonceError('STORE_CLOSED')
}
