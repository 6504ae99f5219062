/** Restarts one of the examples as a deploy would: `node examples/broken/restart.mjs memory-dedupe`. */
import { spawn } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { folderOf } from './endpoint.mjs'

const [name = '', signal = 'SIGTERM'] = process.argv.slice(2)
const file = join(folderOf(name), 'pid')
const pid = Number(await readFile(file, 'utf8'))
await rm(file)
process.kill(pid, signal)
while (isAlive()) await sleep(10)
const script = fileURLToPath(new URL(`./${name}.mjs`, import.meta.url))
spawn(process.execPath, [script], { detached: true, stdio: 'ignore' }).unref()
// The endpoint writes its process id to a file when it listens.
while ((await readFile(file, 'utf8').catch(() => '')) === '') await sleep(10)

function isAlive() {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
