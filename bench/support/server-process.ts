/** A server in a process of its own: it shares no event loop with the load generator. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export async function startServer(kind: string, env: Readonly<Record<string, string>>) {
  const child = fork(fileURLToPath(new URL('./server-child.ts', import.meta.url)), [kind], {
    env: { ...process.env, ...env },
    execArgv: [
      '--import',
      'tsx',
      ...(process.env.BENCH_PROFILE ? ['--cpu-prof', '--cpu-prof-dir', process.env.BENCH_PROFILE] : []),
    ],
  })
  const [message] = (await once(child, 'message')) as [{ port: number }]
  return {
    port: message.port,
    async stop() {
      child.send('stop')
      await once(child, 'exit')
    },
  }
}
