/** The real binary in a folder of its own, as a user calls it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { vi } from 'vitest'
import { endingOf } from '#dist/cli/failure.js'
import { createProgram } from '#dist/cli/program.js'
import { terminalText } from '#dist/cli/terminal-text.js'

export const binary = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Running {
  readonly child: ChildProcess
  readonly stdout: string
  readonly stderr: string
  /** Resolves with the match when what it has said on either stream matches; rejects when it ends before. */
  says(pattern: RegExp): Promise<RegExpExecArray>
  signal(name: NodeJS.Signals): void
  ended(): Promise<Ended>
}

export interface Folder {
  readonly path: string
  run(args: readonly string[], env?: Record<string, string>): Promise<Ended>
  /** The same result without a process: most commands are short, and to start them takes longer than they do. */
  call(args: readonly string[], env?: Record<string, string>): Promise<Ended>
  start(args: readonly string[], env?: Record<string, string>): Running
  /** Ends what is still running and removes the folder. */
  remove(): Promise<void>
}

export function freshFolder(): Folder {
  const path = mkdtempSync(join(tmpdir(), 'hookonce-cli-'))
  const running = new Set<Running>()
  function start(args: readonly string[], env: Record<string, string> = {}): Running {
    const one = startBinary(path, args, env)
    running.add(one)
    one.ended().finally(() => running.delete(one))
    return one
  }
  return {
    path,
    start,
    run: (args, env) => start(args, env).ended(),
    call: (args, env = {}) => inTurn(() => callHere(path, args, env)),
    async remove() {
      for (const one of running) {
        one.signal('SIGKILL')
        await one.ended()
      }
      // A program that was told to end by its terminal may still close its files.
      await rm(path, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}

function startBinary(cwd: string, args: readonly string[], env: Record<string, string>): Running {
  const child = spawn(process.execPath, [binary, ...args], {
    cwd,
    env: { ...cleanEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  const waiting = new Set<() => void>()
  const heard = () => {
    for (const check of waiting) check()
  }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    heard()
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
    heard()
  })
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, stdout, stderr }))
  return {
    child,
    get stdout() {
      return stdout
    },
    get stderr() {
      return stderr
    },
    says: (pattern) =>
      new Promise((resolve, reject) => {
        const check = () => {
          const match = pattern.exec(stdout) ?? pattern.exec(stderr)
          if (!match) return
          waiting.delete(check)
          resolve(match)
        }
        waiting.add(check)
        check()
        ended.then(() => reject(new Error(`It ended without saying ${pattern}:\n${stdout}${stderr}`)))
      }),
    signal: (name) => void child.kill(name),
    ended: () => ended,
  }
}

let last: Promise<unknown> = Promise.resolve()

/** One command at a time: it borrows the folder, the environment and the streams of this process. */
function inTurn(call: () => Promise<Ended>): Promise<Ended> {
  const done = last.then(call)
  last = done.catch(() => {})
  return done
}

/** What main.ts does, without the end of the process. */
async function callHere(cwd: string, args: readonly string[], env: Record<string, string>): Promise<Ended> {
  const said = { stdout: '', stderr: '' }
  const before = { cwd: process.cwd(), env: { ...process.env }, exitCode: process.exitCode }
  const signals = (['SIGINT', 'SIGTERM'] as const).map((name) => [name, process.listeners(name)] as const)
  const streams = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      said[name] += typeof text === 'string' ? text : Buffer.from(text).toString()
      return true
    }),
  )
  setEnvironment({ ...cleanEnvironment(), ...env })
  process.chdir(cwd)
  process.exitCode = undefined
  let code: number | null
  try {
    const program = await createProgram(args[0])
    await program.parseAsync([...args], { from: 'user' })
    code = Number(process.exitCode ?? 0)
  } catch (error) {
    const { exitCode, message } = endingOf(error)
    if (message !== '') process.stderr.write(terminalText(`hookonce: ${message}\n`))
    code = exitCode
  } finally {
    process.exitCode = before.exitCode
    process.chdir(before.cwd)
    setEnvironment(before.env)
    for (const stream of streams) stream.mockRestore()
    for (const [name, kept] of signals) {
      for (const listener of process.listeners(name)) {
        if (!kept.includes(listener)) process.off(name, listener)
      }
    }
  }
  return { code, ...said }
}

function setEnvironment(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name]
  Object.assign(process.env, env)
}

/** Nothing of the machine the tests run on decides what they see. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(
    ([name]) => !/^(HOOKONCE_|NO_COLOR|FORCE_COLOR)/.test(name),
  )
  return Object.fromEntries(entries)
}
