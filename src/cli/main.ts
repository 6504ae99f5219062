#!/usr/bin/env node
/** `program.ts` lists the commands. */
import { endingOf } from './failure.js'
import { exitWhenFlushed, watchStreams } from './output.js'
import { createProgram } from './program.js'
import { terminalText } from './terminal-text.js'

watchStreams()

function end(error: unknown): void {
  const { exitCode, message } = endingOf(error)
  if (message !== '') process.stderr.write(terminalText(`hookonce: ${message}\n`))
  if (exitCode === 1 && process.env.HOOKONCE_DEBUG && error instanceof Error)
    process.stderr.write(terminalText(`${error.stack}\n`))
  process.exitCode = exitCode
}

// Unhandled rejections come here too.
process.on('uncaughtException', (error) => {
  end(error)
  exitWhenFlushed()
})

const [first = '', second = ''] = process.argv.slice(2)
createProgram(first === 'help' ? second : first)
  .then((program) => program.parseAsync())
  .catch(end)
  .finally(exitWhenFlushed)
