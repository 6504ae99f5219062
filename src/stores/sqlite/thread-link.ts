/** The event loop's end of a thread: sends calls, hands answers to those who wait, and notices when it dies. */
import { type TransferListItem, Worker } from 'node:worker_threads'
import { HookonceError } from '../../errors.js'
import { openGate, removeGate } from './exit-gate.js'
import { fromWire } from './failure.js'
import {
  type Answer,
  type ArgsOf,
  type Call,
  NEWS,
  type ThreadOptions,
  type ThreadStart,
  type ValueOf,
  type Verb,
} from './protocol.js'

export interface ThreadLink {
  call<V extends Verb>(
    verb: V,
    now: number,
    args: ArgsOf<V>,
    transfer?: readonly TransferListItem[],
  ): Promise<ValueOf<V>>
}

interface Waiter {
  readonly verb: Verb
  resolve(value: unknown): void
  reject(error: Error): void
}

export interface ThreadListeners {
  readonly onNews: () => void
  /** The log is further in time than a call knew. */
  readonly onLogTime: (instant: number) => void
}

export function startThread(options: ThreadOptions, { onNews, onLogTime }: ThreadListeners): ThreadLink {
  const gate = openGate()
  // The program's own flags (--input-type, --inspect-brk, loaders) are not meant for this thread.
  const worker = new Worker(new URL('./thread.js', import.meta.url), {
    workerData: { options, gate } satisfies ThreadStart,
    name: options.readOnly ? 'hookonce-sqlite-reader' : 'hookonce-sqlite-writer',
    execArgv: [],
  })
  const waiters = new Map<number, Waiter>()
  let lastId = 0
  let death: string | null = null
  let closed = false

  worker.on('message', (answer: Answer | typeof NEWS) => {
    if (answer === NEWS) return onNews()
    if (answer.logTime !== undefined) onLogTime(answer.logTime)
    const waiter = waiters.get(answer.id)
    waiters.delete(answer.id)
    // A thread with nothing to do must not keep the process alive.
    if (waiters.size === 0) worker.unref()
    if ('error' in answer) waiter?.reject(fromWire(answer.error))
    else waiter?.resolve(answer.value)
  })
  worker.on('error', (error: NodeJS.ErrnoException) => die(`its thread broke: ${error.code ?? error.name}`))
  worker.on('exit', (code) => {
    removeGate(gate)
    die(`its thread ended with code ${code}`)
  })

  function die(problem: string): void {
    death ??= problem
    for (const { verb, reject } of waiters.values()) {
      reject(
        new HookonceError(verb === 'tx.commit' || verb === 'tx.finish' ? 'COMMIT_UNKNOWN' : 'STORE_FAILED', {
          problem: death,
        }),
      )
    }
    waiters.clear()
  }

  return {
    call: (verb, now, args, transfer = []) =>
      new Promise((resolve, reject) => {
        if (closed) return verb === 'tx.rollback' ? resolve(undefined as never) : reject(tooLate(verb))
        closed = verb === 'close'
        if (death !== null) return reject(new HookonceError('STORE_FAILED', { problem: death }))
        const id = ++lastId
        const call: Call = { id, verb, now, args }
        worker.postMessage(call, transfer)
        if (waiters.size === 0) worker.ref()
        waiters.set(id, { verb, resolve: resolve as (value: unknown) => void, reject })
      }),
  }
}

function tooLate(verb: Verb): HookonceError {
  return verb.startsWith('tx.')
    ? new HookonceError('TRANSACTION_CLOSED', { problem: 'the store was closed' })
    : new HookonceError('STORE_CLOSED')
}
