/** Faults by other programs on the same log: a full disk, the sqlite3 command, the commands of hookonce. */
import { execFile } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Fault } from './faults.js'
import type { World } from './world.js'

const cli = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const FULL_MS = 3_000
/** For one command. */
const LIMIT_MS = 120_000
const call = promisify(execFile)

/** Retention needs to know how long the senders repeat a delivery. */
const configuration = `
import { github, unverified } from 'hookonce/providers'
const shop = (more) =>
  unverified({ id: 'json:id', type: 'json:type', reference: 'json:ref', retryWindow: 500, ...more })
export default {
  store: 'sqlite:none.db',
  sources: {
    shop: shop({}),
    inline: shop({ mode: 'inline' }),
    many: shop({ each: 'events[]' }),
    github: github({ secret: 'black-box-secret-of-32-characters' }),
  },
}
`

export const otherPrograms: readonly Omit<Fault, 'touches'>[] = [
  {
    name: 'the disk full and freed',
    on: 'SQLite',
    cannot: ({ disk }) => (disk === null ? 'a tmpfs cannot be mounted here' : null),
    async run({ disk }) {
      disk!.fill()
      await sleep(FULL_MS)
      disk!.free()
    },
  },
  {
    name: 'sqlite3 reads, checkpoints and backs up the file',
    on: 'SQLite',
    async run({ path, folder }) {
      const copy = join(folder, 'copy.db')
      for (let i = 0; i < 5; i++) {
        rmSync(copy, { force: true })
        const orders = [
          'pragma wal_checkpoint(truncate);',
          'select count(*) from hookonce_events;',
          `.backup ${copy}`,
        ]
        await call('sqlite3', ['-cmd', '.timeout 20000', path!, ...orders])
        const { stdout } = await call('sqlite3', [copy, 'pragma integrity_check'])
        if (stdout.trim() !== 'ok') throw new Error(`the backup is damaged: ${stdout}`)
      }
    },
  },
  {
    name: 'doctor, lists and exports run beside it',
    async run(world) {
      await hookonce(world, ['doctor'], 1)
      await hookonce(world, ['events', 'list', '--limit', '200'])
      await hookonce(world, ['events', 'export', '--payloads', '--since', '20s', '--note', 'black box'])
    },
  },
  {
    name: 'retry and replay run beside it',
    async run(world) {
      await hookonce(world, ['replay', '--type', 'tx', '--force', '--since', '10s', '--note', 'black box'], 1)
      await hookonce(world, ['retry', '--state', 'failed', '--note', 'black box'], 1)
      await hookonce(
        world,
        ['replay', '--type', 'share', '--force', '--since', '5s', '--note', 'black box'],
        1,
      )
    },
  },
  {
    name: 'archive and prune run beside it',
    async run(world) {
      writeFileSync(join(world.folder, 'hookonce.config.mjs'), configuration)
      const archive = ['--archive', join(world.folder, 'archive')]
      await hookonce(world, ['archive', 'run', ...archive])
      await hookonce(world, ['prune', '--source', 'shop', '--payloads', '1s'])
      await hookonce(world, ['archive', 'run', ...archive])
      await hookonce(world, ['archive', 'verify', ...archive])
    },
  },
]

/** Some orders end with 1 because single events were busy, and doctor because it has found something. */
async function hookonce(world: World, command: readonly string[], worst = 0): Promise<void> {
  // Not --store: it would leave out the configuration, which has the retry windows.
  const env = { ...process.env, HOOKONCE_STORE: world.storeUrl }
  const options = { cwd: world.folder, env, timeout: LIMIT_MS, maxBuffer: 2 ** 28 }
  try {
    await call(process.execPath, [cli, ...command], options)
  } catch (error) {
    const { code, stderr, killed } = error as { code?: number; stderr?: string; killed?: boolean }
    if (killed) throw new Error(`hookonce ${command.join(' ')} did not end in ${LIMIT_MS / 1_000} s`)
    // While another fault of the round is on, the store may be away: the command must say so and nothing worse.
    const isOutage = /STORE_(UNAVAILABLE|BUSY|TIMEOUT)|unavailable|disk|full/i.test(stderr ?? '')
    if (typeof code === 'number' && (code <= worst || isOutage) && !/^\s+at .*:\d+:\d+/m.test(stderr ?? ''))
      return
    throw new Error(`hookonce ${command.join(' ')} ended with ${code}: ${stderr}`)
  }
}
