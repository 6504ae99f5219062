/** The system calls of a process, as strace writes them: parsed, with their bytes, in the order in which they happened. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'

export interface SystemCall {
  readonly name: string
  /** The path (or `socket:[...]`) of the first file descriptor. */
  readonly path: string
  /** The bytes of all buffers, as far as they were traced. */
  readonly bytes: Buffer
  /** The numbers after the buffers: length and offset of `pwrite64`, length of `ftruncate`. */
  readonly numbers: readonly number[]
  readonly result: number
  /** Its place in this trace: lines are written in the order in which things happened, whatever the clock does. */
  readonly started: number
  readonly ended: number
  /** Seconds since 1970, to compare with another trace. */
  readonly startedAt: number
  readonly endedAt: number
}

export interface Trace {
  readonly process: ChildProcess
  /** Resolves with the calls when the traced process has ended, or strace has let it go. */
  calls(): Promise<SystemCall[]>
}

/** `bytes`: how much of each buffer is kept. */
export function traced(command: readonly string[], names: string, file: string, bytes: number): Trace {
  const program = process.env.HOOKONCE_TEST_STRACE ?? 'strace'
  const options = ['-f', '-ttt', '-T', '-y', '-xx', '-s', String(bytes), '-e', `trace=${names}`, '-o', file]
  const child = spawn(program, [...options, ...command], { stdio: ['ignore', 'pipe', 'pipe'] })
  const closed = once(child, 'close')
  return {
    process: child,
    async calls() {
      await closed
      return parseCalls(await readFile(file, 'utf8'))
    },
  }
}

/** Resolves with the first line of a stream that matches. */
export async function lineOf(stream: NodeJS.ReadableStream, pattern: RegExp): Promise<string> {
  for await (const line of createInterface({ input: stream })) if (pattern.test(line)) return line
  throw new Error(`The stream ended without a line like ${pattern}`)
}

/** In the order in which the calls ended. A call that was interrupted by those of other threads is put together again. */
function parseCalls(text: string): SystemCall[] {
  const open = new Map<string, { text: string; started: number; startedAt: number }>()
  const calls: SystemCall[] = []
  for (const [place, line] of text.split('\n').entries()) {
    const match = /^(\d+)\s+(\d+\.\d+) (.*)$/.exec(line)
    if (!match) continue
    const [, pid = '', time = '', rest = ''] = match
    if (rest.endsWith('<unfinished ...>')) {
      open.set(pid, {
        text: rest.slice(0, -'<unfinished ...>'.length).trimEnd(),
        started: place,
        startedAt: Number(time),
      })
      continue
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest)
    const begun = resumed ? open.get(pid) : undefined
    const call = parseCall(
      begun ? begun.text + resumed![1]! : rest,
      begun?.startedAt ?? Number(time),
      Number(time),
    )
    if (call) calls.push({ ...call, started: begun?.started ?? place, ended: place })
  }
  return calls
}

function parseCall(
  text: string,
  startedAt: number,
  lineAt: number,
): Omit<SystemCall, 'started' | 'ended'> | null {
  const match = /^(\w+)\((.*)\)\s+= (-?\d+).*?(?:<(\d+\.\d+)>)?$/.exec(text)
  if (!match) return null
  const [, name = '', args = '', result = '', seconds = '0'] = match
  const path = /^\d+<((?:\\x[0-9a-f]{2})*|[^>]*)>/.exec(args)?.[1] ?? ''
  const buffers = [...args.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map(([, hex = '']) => unescaped(hex))
  const after = args.slice(args.lastIndexOf('"') + 1)
  return {
    name,
    path: path.startsWith('\\x') ? unescaped(path).toString() : path,
    bytes: Buffer.concat(buffers),
    numbers: [...after.matchAll(/, (\d+)(?=,|$)/g)].map(([, digits]) => Number(digits)),
    result: Number(result),
    startedAt,
    endedAt: Math.max(lineAt, startedAt + Number(seconds)),
  }
}

function unescaped(text: string): Buffer {
  return Buffer.from(text.replaceAll('\\x', ''), 'hex')
}
