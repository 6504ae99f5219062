#!/usr/bin/env node
/** The command line: `hookonce dev` and the others. `program.ts` lists them. */
import { endingOf } from './failure.js'
import { createProgram } from './program.js'
import { leave, watchStreams } from './streams.js'

watchStreams()

function end(error: unknown): void {
  const { exitCode, message } = endingOf(error)
  if (message !== '') process.stderr.write(`hookonce: ${message}\n`)
  if (exitCode === 1 && process.env.HOOKONCE_DEBUG && error instanceof Error)
    process.stderr.write(`${error.stack}\n`)
  process.exitCode = exitCode
}

// What nobody waited for, or threw outside of a promise, ends like any other error: in words.
process.on('uncaughtException', (error) => {
  end(error)
  leave()
})

createProgram().parseAsync().catch(end).finally(leave)
