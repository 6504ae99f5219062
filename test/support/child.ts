/** A child process that speaks in lines. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export interface Child {
  /** What it has said so far. */
  readonly lines: readonly string[]
  /** Resolves when it has said so many lines; rejects when it ends before. */
  said(count: number): Promise<void>
  tell(line: string): void
  readonly pid: number
  signal(signal: NodeJS.Signals): void
  /** kill -9; resolves when all it said has been read. */
  kill(): Promise<void>
  /** Resolves with its exit code. */
  ended(): Promise<number | null>
}

export function startChild(script: string, args: readonly string[]): Child {
  const path = fileURLToPath(new URL(script, import.meta.url))
  const child = spawn(process.execPath, [path, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdin.on('error', () => {})
  const lines: string[] = []
  const waiting = new Set<() => void>()
  const reader = createInterface({ input: child.stdout })
  reader.on('line', (line) => {
    lines.push(line)
    for (const check of waiting) check()
  })
  const closed = once(child, 'close')
  child.stdin.on('error', () => {}) // it may end before it has read all
  return {
    lines,
    said: (count) =>
      new Promise((resolve, reject) => {
        const check = () => {
          if (lines.length < count) return
          waiting.delete(check)
          resolve()
        }
        waiting.add(check)
        check()
        // Nobody may be waiting any more when the child is killed on purpose.
        closed.then(() => reject(new Error(`${script} ended after ${lines.length} lines.`)))
      }),
    pid: child.pid ?? 0,
    signal: (signal) => void child.kill(signal),
    tell: (line) => child.stdin.write(`${line}\n`),
    async kill() {
      child.kill('SIGKILL')
      await closed
    },
    ended: async () => (await closed)[0] as number | null,
  }
}
