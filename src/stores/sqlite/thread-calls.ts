/**
 * Calls from the event loop to a worker thread that owns a SQLite file. A call waits for the answer with its id. When the
 * thread ends, the calls that still wait are rejected. `close` is answered when the thread has ended: until then the
 * driver may hold the file, with its last writes in the -wal, which a copy of the file would miss.
 */
import { openGate, removeGate } from './exit-gate.js'
import { fromWire, type WireError } from './failure.js'
import { startWorker, type ThreadProgram } from './worker.js'

export interface ThreadCall {
  readonly id: number
  readonly verb: string
}

export type ThreadAnswer = { readonly id: number } & (
  | { readonly value: unknown }
  | { readonly error: WireError }
)

export interface ThreadDefinition {
  readonly program: ThreadProgram
  readonly name: string
  /** Given to the thread as `workerData.options`. */
  readonly options: object
  /** Sees each message first. Returns false for a message that is not an answer. */
  isAnswer?(message: unknown): boolean
  /** Makes the error of a failed call. Default: the error as the thread sent it. */
  failed?(error: Error): Error
  /** Makes the error of a call that was sent to the thread and not answered before the thread ended. */
  unanswered(verb: string, problem: string): Error
}

export interface CallingThread<Call extends ThreadCall> {
  /** Why the thread has ended; null while it runs. */
  readonly death: string | null
  nextId(): number
  send(call: Call, transfer: readonly ArrayBuffer[], resolve: Resolve, reject: Reject): void
}

type Resolve = (value: unknown) => void
type Reject = (error: Error) => void

interface Waiter {
  readonly verb: string
  readonly resolve: Resolve
  readonly reject: Reject
}

export function startCallingThread<Call extends ThreadCall>(
  definition: ThreadDefinition,
): CallingThread<Call> {
  const { program, name, options, isAnswer, failed, unanswered } = definition
  const gate = openGate()
  const worker = startWorker(program, name, { options, gate })
  // An idle thread must not keep the process alive.
  worker.unref()
  const waiters = new Map<number, Waiter>()
  let lastId = 0
  let death: string | null = null
  /** Answers `close` when the thread has ended. */
  let closing: Resolve | null = null

  worker.on('message', (message: ThreadAnswer) => {
    if (isAnswer && !isAnswer(message)) return
    const waiter = waiters.get(message.id)
    if (waiter?.verb === 'close' && 'value' in message) {
      closing = waiter.resolve
      waiters.delete(message.id)
      return
    }
    waiters.delete(message.id)
    if (waiters.size === 0) worker.unref()
    if ('error' in message) {
      const error = fromWire(message.error)
      waiter?.reject(failed ? failed(error) : error)
    } else waiter?.resolve(message.value)
  })
  worker.on('error', (error: NodeJS.ErrnoException) => end(`its thread failed: ${error.code ?? error.name}`))
  worker.on('exit', (code) => {
    removeGate(gate)
    end(`its thread ended with code ${code}`)
    closing?.(undefined)
  })

  function end(problem: string): void {
    death ??= problem
    for (const { verb, reject } of waiters.values()) reject(unanswered(verb, death))
    waiters.clear()
  }

  return {
    get death() {
      return death
    },
    nextId: () => ++lastId,
    send(call, transfer, resolve, reject) {
      worker.postMessage(call, transfer)
      if (waiters.size === 0) worker.ref()
      waiters.set(call.id, { verb: call.verb, resolve, reject })
    },
  }
}
