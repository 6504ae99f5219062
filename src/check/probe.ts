/** Effects may happen after the answer, so a count is taken when it has not changed for a while. */
import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { invalid } from '../errors.js'
import { parseJson } from './change.js'
import { post } from './post.js'

/** Counts the effects of this event, or of all events when the probe cannot tell them apart. */
export type Probe = (eventId: string) => Promise<number>

export function urlProbe(template: string, timeoutMs: number): Probe {
  return async (eventId) => {
    const url = template.replaceAll('{id}', encodeURIComponent(eventId))
    const answer = await post(
      { method: 'GET', url, headers: { accept: 'application/json' }, body: new Uint8Array(0) },
      timeoutMs,
    )
    if (answer.status !== 200)
      throw invalid(
        'The probe',
        `answered ${answer.status ?? answer.problem}; it must answer 200 with a number`,
      )
    return countIn(answer.excerpt)
  }
}

export function commandProbe(command: string, timeoutMs: number): Probe {
  return async (eventId) =>
    countIn(await runCommand(command, 'The probe command', { HOOKONCE_EVENT_ID: eventId }, timeoutMs))
}

/** The text is a number, or JSON with exactly one number in it. */
export function countIn(text: string): number {
  const numbers = numbersIn(parseJson(Buffer.from(text.trim())))
  const [count] = numbers
  if (numbers.length !== 1 || count === undefined || !Number.isSafeInteger(count) || count < 0)
    throw invalid('The probe', 'must return a whole number, or JSON with exactly one number in it')
  return count
}

function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : []
}

/** The returned function waits until the count no longer changes and is `atLeast`, or until the wait is over. */
export async function countFrom(
  probe: Probe,
  eventId: string,
  waitMs: number,
): Promise<(atLeast: number) => Promise<number>> {
  const settleMs = waitMs / 10
  const before = await probe(eventId)
  return async (atLeast) => {
    const startedAt = performance.now()
    let value = await probe(eventId)
    let since = performance.now()
    for (;;) {
      const now = performance.now()
      const unchanged = now - since >= settleMs
      if (unchanged && (value - before >= atLeast || now - startedAt >= waitMs)) return value - before
      await sleep(Math.min(50, settleMs))
      const next = await probe(eventId)
      if (next !== value) since = performance.now()
      value = next
      // Other traffic may change the count all the time, so this wait has a limit too.
      if (performance.now() - startedAt > 2 * waitMs + settleMs) return value - before
    }
  }
}

const MAX_OUTPUT_BYTES = 64 * 1_024

/** Does not wait for processes that the command leaves running. */
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
      if (printed.length < MAX_OUTPUT_BYTES) printed += chunk
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
      // A process that the command left running keeps the pipe open, so the output may never end.
      setImmediate(() => {
        child.stdout.destroy()
        if (code === 0) resolve(printed)
        else reject(invalid(what, `ended with ${code === null ? signal : `exit code ${code}`}`))
      })
    })
  })
}
