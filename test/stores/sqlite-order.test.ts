/** How a process on SQLite notices events that other processes record: it watches the file. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from 'hookonce/sqlite'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openConnection } from '#dist/stores/sqlite/connection.js'
import { watchLog } from '#dist/stores/sqlite/subscribe.js'
import { delivery } from '../support/delivery.js'

let folder: string
let path: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hookonce-sqlite-'))
  path = join(folder, 'events.db')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** A process that listens on the log, says so, says when it is woken, and then does `after`. */
function listener(after: string) {
  const script = `
    import { sqlite } from 'hookonce/sqlite'
    const store = sqlite(process.argv[1])
    await store.subscribe(() => console.log('woken'))
    console.log('listening')
    ${after}`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, path], {
    cwd: new URL('../..', import.meta.url),
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout.on('data', (chunk) => {
    said += chunk
  })
  return { child, said: () => said }
}

test('a process that listens is woken by what another process records', async () => {
  const store = sqlite(path)
  await store.migrate()
  const { child, said } = listener('process.stdin.resume()')
  try {
    await expect.poll(said).toContain('listening')
    expect(said()).not.toContain('woken')
    await store.record([delivery('a')])
    await expect.poll(said).toContain('woken')
  } finally {
    child.kill()
    await store.close()
  }
})

test('listening does not keep a process alive', async () => {
  const store = sqlite(path)
  await store.migrate()
  await store.close()
  const { child, said } = listener('')
  const [code] = await once(child, 'close')
  expect([code, said()]).toEqual([0, 'listening\n'])
})

test('claims and settlements wake nobody, a new event and an order do', async () => {
  const store = sqlite(path)
  await store.migrate()
  await store.record([delivery('a')])
  const connection = openConnection({ path, busyTimeoutMs: 10_000, readOnly: true })
  let woken = 0
  const watch = watchLog({
    connection: () => connection,
    notify: () => woken++,
    guard: (run) => run(),
  })
  /** How often the watch wakes somebody in its next looks. */
  const looks = () => {
    woken = 0
    vi.advanceTimersByTime(1_000)
    return woken
  }
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  try {
    watch.start()
    const [claimed] = await store.claim({ worker: 'w', limit: 1, leaseMs: 60_000 })
    expect(looks()).toBe(0)
    await store.settle([{ lease: claimed!.lease, outcome: { kind: 'succeeded' }, durationMs: 1 }])
    expect(looks()).toBe(0)
    const order = { events: [{ source: 'shop', id: 'a' }], actor: 'ada', note: '', force: true }
    await store.operate({ verb: 'replay', ...order })
    expect(looks()).toBe(1)
    await store.record([delivery('b')])
    expect(looks()).toBe(1)
  } finally {
    watch.stop()
    vi.useRealTimers()
    connection.close()
    await store.close()
  }
})

test('a log in memory can be listened to and never wakes', async () => {
  const memory = sqlite(':memory:')
  const file = sqlite(path)
  await Promise.all([memory.migrate(), file.migrate()])
  let woken = 0
  await memory.subscribe(() => expect.unreachable())
  await file.subscribe(() => woken++)
  await memory.record([delivery('a')])
  // Both are watched in the same way. While the file has woken its listener three times, the memory could have once.
  const other = sqlite(path)
  for (let i = 1; i <= 3; i++) {
    await other.record([delivery(`e${i}`)])
    await expect.poll(() => woken).toBeGreaterThanOrEqual(i)
  }
  await Promise.all([memory.close(), file.close(), other.close()])
})
