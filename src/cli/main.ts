#!/usr/bin/env node
/** The command line: `hookonce dev` and the others. `program.ts` lists them. */
import { endingOf } from './failure.js'
import { createProgram } from './program.js'

// Whoever reads our output may stop reading (`hookonce events export | head`): that is not an error.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit(process.exitCode ?? 0)
  })
}

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

/**
 * When a command is done, so is the process: what a configuration has opened (a pool, a timer), or the channel to a
 * parent, would keep it alive. Not before everything it said has been taken.
 */
function leave(): void {
  process.stdout.write('', () => process.stderr.write('', () => process.exit()))
}

createProgram().parseAsync().catch(end).finally(leave)
