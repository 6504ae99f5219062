/** A command of the user's, run by the shell: the probe, a restart, a crash. */
import { spawn } from 'node:child_process'
import { invalid } from '../errors.js'

const MOST_BYTES = 64 * 1_024

/** Resolves with what it printed when it ends; what it leaves running in the background is not waited for. */
export function runCommand(
  command: string,
  what: string,
  environment: Readonly<Record<string, string>>,
  timeoutMs: number,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, {
      shell: true,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, ...environment },
    })
    let printed = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      if (printed.length < MOST_BYTES) printed += chunk
    })
    const timer = setTimeout(() => {
      child.kill()
      reject(invalid(what, `did not end within ${timeoutMs} ms`))
    }, timeoutMs)
    child.once('error', (error) => {
      clearTimeout(timer)
      reject(invalid(what, `could not be run (${error.message})`))
    })
    child.once('exit', (code, signal) => {
      clearTimeout(timer)
      // A child of its own may hold the pipe for as long as it lives; what was printed by now has mostly been read.
      setImmediate(() => {
        child.stdout.destroy()
        if (code === 0) resolve(printed)
        else reject(invalid(what, `ended with ${code === null ? signal : `exit code ${code}`}`))
      })
    })
  })
}
