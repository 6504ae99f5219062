/** The endpoints of examples/broken as processes, restarted by their own script, and what is needed to examine them. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from './free-port.js'

export const exampleSecret = 'whsec_a_secret_for_one_test_of_the_examples'
const folder = fileURLToPath(new URL('../../examples/broken/', import.meta.url))

export interface Example {
  readonly url: string
  readonly probe: string
  readonly totalProbe: string
  readonly fault: string
  readonly restartCommand: string
  readonly crashCommand: string
  stop(): Promise<void>
}

export async function startExample(name: string): Promise<Example> {
  const port = await freePort()
  const place = await mkdtemp(join(tmpdir(), 'hookonce-example-'))
  const env = { PORT: String(port), FOLDER: place, WEBHOOK_SECRET: exampleSecret }
  const child: ChildProcess = spawn(process.execPath, [join(folder, `${name}.mjs`)], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await Promise.race([
    once(child.stdout!, 'data'),
    once(child, 'exit').then(() => Promise.reject(new Error(`${name} ended before it listened`))),
  ])
  const settings = Object.entries(env).map(([key, value]) => `${key}='${value}'`)
  const command = `${settings.join(' ')} '${process.execPath}' '${join(folder, 'restart.mjs')}' ${name}`
  const base = `http://127.0.0.1:${port}`
  return {
    url: `${base}/webhooks`,
    probe: `${base}/effects?id={id}`,
    totalProbe: `${base}/effects`,
    fault: `${base}/fault`,
    restartCommand: command,
    crashCommand: `${command} SIGKILL`,
    async stop() {
      const pid = Number(await readFile(join(place, name, 'pid'), 'utf8'))
      process.kill(pid, 'SIGKILL')
      await rm(place, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}
