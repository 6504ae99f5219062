/** A child process of a benchmark: it runs the requests of its parent one after the other and answers them. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export interface Child {
  ask<Answer>(question: Readonly<Record<string, string | number>>): Promise<Answer>
  readonly process: ChildProcess
  stop(): Promise<void>
}

type Reply<Answer> = { readonly answer: Answer } | { readonly problem: string }

/** The module calls `answer` below, which tells this process that the child is ready. */
export async function startChild(
  module: URL,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Child> {
  const child = fork(fileURLToPath(module), args, {
    env: { ...process.env, ...env },
    execArgv: [
      '--import',
      'tsx',
      ...(process.env.BENCH_PROFILE ? ['--cpu-prof', '--cpu-prof-dir', process.env.BENCH_PROFILE] : []),
    ],
  })
  const exited = new Promise<never>((_, reject) => {
    child.once('exit', (code) => reject(new Error(`${args.join(' ')}: the process ended with ${code}`)))
  })
  exited.catch(() => {})

  async function reply<Answer>(): Promise<Answer> {
    const [message] = (await Promise.race([once(child, 'message'), exited])) as [Reply<Answer>]
    if ('problem' in message) throw new Error(`${args.join(' ')}: ${message.problem}`)
    return message.answer
  }
  await reply()
  return {
    process: child,
    ask(question) {
      child.send(question)
      return reply()
    },
    async stop() {
      child.send({ do: 'stop' })
      await once(child, 'exit')
    },
  }
}

/** In the child: reports that it is ready, then runs requests until the parent ends it. */
export function answer(
  does: Readonly<Record<string, (question: Readonly<Record<string, number>>) => Promise<unknown>>>,
): void {
  process.on('message', (question: { do: string } & Record<string, number>) => {
    does[question.do]!(question).then(
      (value) => process.send!({ answer: value ?? null }),
      (error) => process.send!({ problem: error instanceof Error ? (error.stack ?? error.message) : error }),
    )
  })
  process.send!({ answer: 'up' })
}
