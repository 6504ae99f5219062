/**
 * Standard output and standard error that cannot be written. A command that gives a result ends with its reader
 * (`hookonce events export | head`), and fails when the disk is full. A server goes on: a dead log is no reason to stop
 * taking deliveries.
 */
import { tolerateErrors } from '../log-stream.js'

let serving = false

/** From now on this process serves: nothing that happens to its output ends it. */
export function outliveOutput(): void {
  serving = true
}

/** A reader that has stopped costs a server at most this much memory. */
const MOST_WAITING_BYTES = 1024 * 1024

export function put(stream: NodeJS.WriteStream, text: string): void {
  if (serving && (stream.destroyed || stream.writableLength > MOST_WAITING_BYTES)) return
  stream.write(text)
}

/** How long a server waits at its end for a reader that has stopped. */
const LAST_WORDS_MS = 2_000

export function watchStreams(): void {
  // Nobody waits for words about a result.
  tolerateErrors(process.stderr)
  process.stdout.on('error', resultLost)
}

function resultLost(error: NodeJS.ErrnoException): void {
  if (serving) return
  if (error.code === 'EPIPE') process.exit(process.exitCode ?? 0)
  process.stderr.write(`hookonce: the result could not be written: ${error.code ?? error.message}\n`)
  process.exit(1)
}

/**
 * When a command is done, so is the process: what a configuration has opened (a pool, a timer), or the channel to a
 * parent, would keep it alive. Not before everything it said has been taken.
 */
export function leave(): void {
  if (serving) setTimeout(() => process.exit(), LAST_WORDS_MS)
  process.stdout.write('', () => {
    // Its event may come later than this.
    if (process.stdout.errored) resultLost(process.stdout.errored)
    process.stderr.write('', () => process.exit())
  })
}
