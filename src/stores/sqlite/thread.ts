/**
 * The thread owns a connection: a commit waits for the disk outside the event loop. Calls are answered in the sequence in
 * which they arrive, except that calls outside a handler's transaction wait for its end.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { HookonceError } from '../../errors.js'
import { type Connection, logTime, openConnection } from './connection.js'
import { passGate } from './exit-gate.js'
import { handlerErrorToWire, toWire, type WireError } from './failure.js'
import { handlerTransactions } from './handler-transaction.js'
import { insistOnSchema } from './migrate.js'
import type { Answer, Call, ThreadStart, TransactionVerbs, Verb } from './protocol.js'
import { watchLog } from './subscribe.js'
import { readVerbs, verbs } from './verbs.js'

const { options, gate }: ThreadStart = workerData
const port = parentPort!
const waiting: Call[] = []
let connection: Connection | undefined
let closing = false

const guard = (run: () => void) => passGate(gate, run)

const transactions = handlerTransactions({
  connection: connect,
  timeoutMs: options.transactionTimeoutMs,
  onTimeout: serveWaiting,
  guard,
})

const watch = watchLog({ connection: connect, notify: (news) => port.postMessage(news), guard })

port.on('message', (call: Call) => guard(() => receive(call)))

function receive(call: Call): void {
  if (call.verb === 'abandon') abandon(call)
  else if (mustWait(call.verb)) waiting.push(call)
  else {
    serve(call)
    serveWaiting()
  }
}

/** Reads never wait for a transaction: for a file they have their own connection; in memory there is only one. */
function mustWait(verb: Verb): boolean {
  if (verb in readVerbs || (verb.startsWith('tx.') && verb !== 'tx.begin')) return false
  return transactions.isOpen() || waiting.length > 0
}

function serveWaiting(): void {
  while (waiting.length > 0 && !transactions.isOpen()) serve(waiting.shift()!)
}

function serve({ id, verb, now, args }: Call): void {
  const head = () => (connection && connection.now > now ? { id, logTime: connection.now } : { id })
  try {
    const value = perform(verb, args, now)
    answer({ ...head(), value }, bodiesOf(verb, value))
  } catch (error) {
    answer({ ...head(), error: errorOf(verb, error) })
  }
  if (verb === 'close') endThread()
}

/** The port of Deno cannot be closed, and its worker can. */
function endThread(): void {
  if (typeof port.close === 'function') port.close()
  else (globalThis as { close?(): void }).close?.()
}

function perform(verb: Verb, args: unknown, now: number): unknown {
  if (verb === 'close') {
    watch.stop()
    return connection?.close()
  }
  if (verb === 'tx.begin' && closing) throw new HookonceError('STORE_CLOSED')
  const open = connect()
  if (verb !== 'migrate' && verb !== 'inspect' && !open.notesTime) {
    insistOnSchema(open)
    open.notesTime = true
  }
  if (verb === 'watch') return args === true ? watch.start() : watch.stop()
  open.now = open.notesTime ? logTime(open, now) : now
  if (verb.startsWith('tx.')) {
    const name = verb.slice('tx.'.length) as keyof TransactionVerbs
    return transactions.perform(name, args as { transaction: number })
  }
  const run = verbs[verb as keyof typeof verbs] as (log: Connection, args: unknown) => unknown
  return run(open, args)
}

/** Opens the log on first use, and tries again after a failure, because a missing directory may come back. */
function connect(): Connection {
  connection ??= openConnection(options)
  return connection
}

function abandon(call: Call): void {
  closing = true
  transactions.abandon('the store was closed')
  serveWaiting()
  answer({ id: call.id, value: undefined })
}

function answer(answer: Answer, transfer: ArrayBuffer[] = []): void {
  port.postMessage(answer, transfer)
}

function errorOf(verb: Verb, error: unknown): WireError {
  const isHandlers = verb === 'tx.run' || verb === 'tx.get' || verb === 'tx.all'
  return isHandlers ? handlerErrorToWire(error) : toWire(error)
}

/** Bodies are transferred instead of copied. Events of one delivery share one buffer. */
function bodiesOf(verb: Verb, value: unknown): ArrayBuffer[] {
  if (verb !== 'claim' && verb !== 'payload') return []
  const holders = (verb === 'claim' ? value : [value]) as ({ body: Uint8Array | null } | null)[]
  const buffers = new Set<ArrayBuffer>()
  for (const holder of holders) if (holder?.body) buffers.add(holder.body.buffer as ArrayBuffer)
  return [...buffers]
}
