/** A child process of a suite: it runs the requests of its parent one after the other and answers them. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { runnable } from './runnable.js'

export interface Child {
  ask<Answer = null>(question: Readonly<Record<string, string | number>>): Promise<Answer>
  readonly process: ChildProcess
  /** Its first message. */
  readonly greeting: unknown
  readonly pid: number
  stop(): Promise<void>
  /** kill -9; resolves when the process has ended. */
  kill(): Promise<void>
}

type Reply<Answer> = { readonly answer: Answer } | { readonly problem: string }

/**
 * The module calls `answer` below, which tells this process that the child is ready. BENCH_PROFILE=folder writes a CPU
 * profile of each child there.
 */
export async function startChild(
  module: URL,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  node = process.execPath,
): Promise<Child> {
  const child = fork(runnable(module), args, {
    env: { ...process.env, ...env },
    execPath: node,
    execArgv: process.env.BENCH_PROFILE ? ['--cpu-prof', '--cpu-prof-dir', process.env.BENCH_PROFILE] : [],
  })
  const name = args.join(' ')
  const exited = new Promise<never>((_, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) =>
      reject(new Error(`${name}: the process ended with ${code ?? signal}`)),
    )
  })
  exited.catch(() => {})

  async function reply<Answer>(): Promise<Answer> {
    const [message] = (await Promise.race([once(child, 'message'), exited])) as [Reply<Answer>]
    if ('problem' in message) throw new Error(`${name}: ${message.problem}`)
    return message.answer
  }

  async function kill(): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }

  let greeting: unknown
  try {
    greeting = await reply()
  } catch (error) {
    await kill()
    throw error
  }
  return {
    process: child,
    greeting,
    pid: child.pid!,
    ask(question) {
      child.send(question)
      return reply()
    },
    async stop() {
      child.send({ do: 'stop' })
      await once(child, 'exit')
    },
    kill,
  }
}

type Question = Readonly<Record<string, string | number>>

/** In the child: reports that it is ready, then runs requests until the parent ends it. */
export function answer(does: Readonly<Record<string, (question: Question) => Promise<unknown>>>): void {
  process.on('message', (question: Question) => {
    does[question.do!]!(question).then(
      (value) => process.send!({ answer: value ?? null }),
      (error) => process.send!({ problem: error instanceof Error ? (error.stack ?? error.message) : error }),
    )
  })
  // A parent that was killed leaves no child behind.
  process.once('disconnect', () => process.exit(0))
  process.send!({ answer: 'up' })
}
