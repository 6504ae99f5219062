/** The spool file in a thread, seen from the event loop. Errors of the file become SPOOL_FAILED. */
import { type TransferListItem, Worker } from 'node:worker_threads'
import { HookonceError, isHookonceError } from '../errors.js'
import { openGate, removeGate } from '../stores/sqlite/exit-gate.js'
import { fromWire, type WireError } from '../stores/sqlite/failure.js'
import type { SpoolRow } from './row.js'
import type { SpoolFile, SpoolFileOptions } from './spool-file.js'

type Verb = keyof SpoolFile

export interface SpoolCall {
  readonly id: number
  readonly verb: Verb
  readonly args: unknown
}

export type SpoolAnswer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: WireError }

/** Every method of the file, as a promise. */
export type SpoolLink = {
  readonly [V in Verb]: (...args: Parameters<SpoolFile[V]>) => Promise<ReturnType<SpoolFile[V]>>
}

interface Waiter {
  resolve(value: unknown): void
  reject(error: Error): void
}

type Call = (verb: Verb, args?: unknown) => Promise<unknown>

/** The thread starts with the first call: an inbox that only reads its log needs none. */
export function spoolThread(options: SpoolFileOptions): SpoolLink {
  let thread: Call | undefined
  const call: Call = (verb, args) => {
    if (!thread && verb === 'close') return Promise.resolve()
    thread ??= startThread(options)
    return thread(verb, args)
  }
  const link: { readonly [V in Verb]: (args: Parameters<SpoolFile[V]>[0]) => Promise<unknown> } = {
    put: (rows) => call('put', rows),
    waiting: () => call('waiting'),
    take: (how) => call('take', how),
    remove: (what) => call('remove', what),
    restore: () => call('restore'),
    totals: () => call('totals'),
    lock: () => call('lock'),
    unlock: () => call('unlock'),
    probe: () => call('probe'),
    shrink: () => call('shrink'),
    close: () => call('close'),
  }
  return link as SpoolLink
}

function startThread(options: SpoolFileOptions): Call {
  const gate = openGate()
  const worker = new Worker(new URL('./thread.js', import.meta.url), {
    workerData: { options, gate },
    name: 'hookonce-spool',
    execArgv: [],
  })
  // An idle thread must not keep the process alive.
  worker.unref()
  const waiters = new Map<number, Waiter>()
  let lastId = 0
  let death: string | null = null
  let closed = false

  worker.on('message', (answer: SpoolAnswer) => {
    const waiter = waiters.get(answer.id)
    waiters.delete(answer.id)
    if (waiters.size === 0) worker.unref()
    if ('error' in answer) waiter?.reject(spoolFailed(fromWire(answer.error)))
    else waiter?.resolve(answer.value)
  })
  worker.on('error', (error: NodeJS.ErrnoException) => die(`its thread broke: ${error.code ?? error.name}`))
  worker.on('exit', () => {
    removeGate(gate)
    die('its thread has ended')
  })

  function die(problem: string): void {
    death ??= problem
    for (const { reject } of waiters.values())
      reject(new HookonceError('SPOOL_FAILED', { path: options.path, problem: death }))
    waiters.clear()
  }

  function spoolFailed(error: Error): HookonceError {
    if (isHookonceError(error, 'SCHEMA_NEWER')) return error
    const problem = isHookonceError(error) ? String(error.details.problem ?? error.code) : error.name
    return new HookonceError('SPOOL_FAILED', { path: options.path, problem }, error)
  }

  function call(verb: Verb, args?: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (closed && verb === 'close') return resolve(undefined)
      const problem = closed ? 'it is closed' : death
      if (problem !== null) return reject(new HookonceError('SPOOL_FAILED', { path: options.path, problem }))
      closed = verb === 'close'
      const id = ++lastId
      worker.postMessage({ id, verb, args } satisfies SpoolCall, buffersOf(verb, args))
      if (waiters.size === 0) worker.ref()
      waiters.set(id, { resolve, reject })
    })
  }

  return call
}

/** Blocks are transferred to the thread, not copied. */
function buffersOf(verb: Verb, args: unknown): TransferListItem[] {
  return verb === 'put' ? (args as SpoolRow[]).map(({ block }) => block.buffer as ArrayBuffer) : []
}
