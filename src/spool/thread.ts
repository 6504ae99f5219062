/** A thread owns the spool file: commits do not block the event loop. */
import { parentPort, workerData } from 'node:worker_threads'
import { type ExitGate, passGate } from '../stores/sqlite/exit-gate.js'
import { toWire } from '../stores/sqlite/failure.js'
import type { ThreadAnswer } from '../stores/sqlite/thread-calls.js'
import { type SpoolCall, SpoolFile, type SpoolFileOptions } from './spool-file.js'

const { options, gate }: { options: SpoolFileOptions; gate: ExitGate } = workerData
const port = parentPort!
let file: SpoolFile | undefined

port.on('message', (call: SpoolCall) => passGate(gate, () => serve(call)))

function serve({ id, verb, args }: SpoolCall): void {
  let answer: ThreadAnswer
  try {
    answer = { id, value: perform(verb, args) }
  } catch (error) {
    answer = { id, error: toWire(error) }
  }
  port.postMessage(answer)
  if (verb === 'close') port.close()
}

function perform(verb: SpoolCall['verb'], args: unknown): unknown {
  if (verb === 'close') return file?.close()
  file ??= new SpoolFile(options)
  return (file[verb] as (args: unknown) => unknown).call(file, args)
}
