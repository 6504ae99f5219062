/**
 * Calls from the event loop to a worker thread that owns a SQLite file. A call waits for the answer with its id. When the
 * thread ends, the calls that still wait are rejected. `close` is answered when the thread has ended: until then the
 * driver may hold the file, with its last writes in the -wal, which a copy of the file would miss.
 *
 * A thread runs the text of one script. A bundler does not carry the file of a thread along, and one script starts in less
 * time than a module with its imports.
 */
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import { HookonceError } from '../../errors.js'
import { type ExitGate, openGate, removeGate } from './exit-gate.js'
import { fromWire, type WireError } from './failure.js'

export type ThreadAnswer = { readonly id: number } & (
  | { readonly value: unknown }
  | { readonly error: WireError }
)

export interface ThreadDefinition {
  readonly name: string
  /** The script, as `scripts/thread-sources.mjs` writes it. */
  readonly source: string
  readonly options: object
  /** Sees each message first. Returns false for a message that is not an answer. */
  isAnswer?(message: unknown): boolean
  /** Makes the error of a failed call. Default: the error as the thread sent it. */
  failed?(error: Error): Error
  unanswered(verb: string, problem: string, wasSent: boolean): Error
}

export interface CallingThread<Call extends { readonly verb: string }> {
  /** Adds the `id` to the message. */
  call(call: Call, transfer: readonly ArrayBuffer[]): Promise<unknown>
}

interface Waiter {
  readonly verb: string
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

export function startCallingThread<Call extends { readonly verb: string }>(
  definition: ThreadDefinition,
): CallingThread<Call> {
  const { isAnswer, failed, unanswered } = definition
  const gate = openGate()
  const worker = startWorker(definition, gate)
  // An idle thread must not keep the process alive.
  worker.unref()
  const waiters = new Map<number, Waiter>()
  let lastId = 0
  /** Why the thread has ended; null while it runs. */
  let death: string | null = null
  /** Answers `close` when the thread has ended. */
  let closing: Waiter | null = null

  worker.on('message', (message: ThreadAnswer) => {
    if (isAnswer && !isAnswer(message)) return
    const waiter = waiters.get(message.id)
    waiters.delete(message.id)
    if (waiter?.verb === 'close' && 'value' in message) {
      closing = waiter
      return
    }
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
    closing?.resolve(undefined)
  })

  function end(problem: string): void {
    death ??= problem
    for (const { verb, reject } of waiters.values()) reject(unanswered(verb, death, true))
    waiters.clear()
  }

  return {
    call: (call, transfer) =>
      new Promise((resolve, reject) => {
        const { verb } = call
        if (death !== null) return reject(unanswered(verb, death, false))
        const id = ++lastId
        worker.postMessage({ ...call, id }, transfer)
        if (waiters.size === 0) worker.ref()
        waiters.set(id, { verb, resolve, reject })
      }),
  }
}

/**
 * A thread only handles messages that are soon garbage. The default space for new objects grows to 48 MB.
 */
const YOUNG_MB = 6

function startWorker({ name, source, options }: ThreadDefinition, gate: ExitGate): Worker {
  if (source === '')
    throw new HookonceError('STORE_FAILED', { problem: 'the code of its thread was not built' })
  // The thread looks for an SQLite driver from here. A bundle of the format CommonJS has no address.
  const here: string | undefined = import.meta.url
  const base = here ?? pathToFileURL(`${process.cwd()}/`).href
  return new Worker(source, {
    name,
    eval: true,
    workerData: { options, gate, base },
    // The flags of the program (--input-type, --inspect-brk, loaders) are not meant for this thread.
    execArgv: [],
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
  })
}
