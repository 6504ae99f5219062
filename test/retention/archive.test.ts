/** The archive: what goes in comes out byte for byte, and what is not whole is said to be so. */

import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { readdir, rm, symlink } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { gunzipSync, gzipSync } from 'node:zlib'
import {
  type ArchiveCheck,
  type ArchiveTarget,
  archiveList,
  archiveRestore,
  archiveRun,
  archiveVerify,
  directory,
  s3,
} from 'hookonce/archive'
import type { CompleteStore, NewDelivery } from 'hookonce/testing/contracts'
import { afterEach, describe, expect, test } from 'vitest'
import { directoryArchive, s3Archive, type TestArchive } from '../support/archives.js'
import { onBothLogs, onLog } from '../support/processing.js'

const day = Date.UTC(2026, 2, 10)
const HOUR_MS = 3_600_000
const before = day + 40 * 24 * HOUR_MS

const removing: TestArchive[] = []
afterEach(async () => {
  await Promise.all(removing.splice(0).map((one) => one.remove()))
})

async function made<T extends TestArchive>(archive: Promise<T>): Promise<T> {
  const one = await archive
  removing.push(one)
  return one
}

function delivery(ids: readonly string[], receivedAt: number, body = Buffer.from(ids.join())): NewDelivery {
  return {
    source: 'shop',
    headers: { 'content-type': 'text/ü' },
    body,
    events: ids.map((eventId) => ({
      id: eventId,
      type: 'order.paid',
      reference: `about ${eventId}`,
      contentHash: new Uint8Array(32).fill(eventId.length),
      guardHash: null,
    })),
    contentGuard: 'review',
    receivedAt,
  }
}

async function fill(store: CompleteStore, ...deliveries: NewDelivery[]): Promise<void> {
  await store.migrate()
  await store.record(deliveries)
  const claimed = await store.claim({ worker: 'w', limit: 1_000, leaseMs: 60_000 })
  await store.settle(claimed.map(({ lease }) => ({ lease, outcome: { kind: 'succeeded' }, durationMs: 1 })))
}

const run = (
  store: CompleteStore,
  target: ArchiveTarget,
  more: Partial<Parameters<typeof archiveRun>[0]> = {},
) => archiveRun({ store, target, source: 'shop', before, ...more })
const prune = (store: CompleteStore) =>
  store.retention.prune({ source: 'shop', payloadsBefore: before, archivedOnly: true, limit: 1_000 })
const restore = (store: CompleteStore, target: ArchiveTarget, more = {}) =>
  archiveRestore({ store, target, source: 'shop', actor: 'ada', note: 'asked to', ...more })

async function all<T>(list: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = []
  for await (const item of list) items.push(item)
  return items
}

/** The store, whose exports have this number. */
function renumbered(store: CompleteStore, seq: number): CompleteStore {
  return {
    ...store,
    archive: {
      ...store.archive,
      async export(options) {
        const { deliveries, next } = await store.archive.export(options)
        const fresh = deliveries.filter((one) => one.events.some(({ id }) => id === 'new'))
        return { deliveries: fresh.map((one) => ({ ...one, seq })), next }
      },
    },
  }
}

/** The problems of an archive, and the memory that its verification took. */
const VERIFY = `
import { archiveVerify, directory } from 'hookonce/archive'
const problems = []
for await (const day of archiveVerify(directory(process.argv[1]))) problems.push(...day.problems)
console.log(JSON.stringify({ problems, megabytes: process.resourceUsage().maxRSS / 1024 }))`

const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i))

const targets = { 'a directory': directoryArchive, S3: s3Archive }

onBothLogs((bench) => {
  for (const [where, make] of Object.entries(targets)) {
    test(`in ${where}: one object and a manifest per day, and back again byte for byte`, async () => {
      const { target } = await made<TestArchive>(make())
      const store = bench.store()
      await fill(
        store,
        delivery(['a'], day, bytes),
        delivery(['m1', 'm2'], day + HOUR_MS),
        delivery(['b'], day + 30 * HOUR_MS),
        delivery(['young'], before),
      )
      const progress: string[] = []
      const report = await run(store, target, { onProgress: ({ object }) => progress.push(object) })
      expect(report).toEqual({ objects: 2, deliveries: 3 })
      expect(progress).toEqual(['shop/2026-03-10/1.jsonl.gz', 'shop/2026-03-11/1.jsonl.gz'])
      expect(await all(target.list(''))).toEqual([
        'shop/2026-03-10/1.jsonl.gz',
        'shop/2026-03-10/manifest.json',
        'shop/2026-03-11/1.jsonl.gz',
        'shop/2026-03-11/manifest.json',
      ])
      const lines = gunzipSync((await target.read('shop/2026-03-10/1.jsonl.gz'))!)
        .toString()
        .trim()
        .split('\n')
      expect(lines.map((line) => JSON.parse(line).body)).toEqual([
        bytes.toString('base64'),
        Buffer.from('m1,m2').toString('base64'),
      ])
      const [manifest] = await all(archiveList(target))
      expect(manifest).toMatchObject({ source: 'shop', day: '2026-03-10', deliveries: 2, events: 3 })
      expect((await all(archiveVerify(target))).flatMap((one) => [...one.problems, ...one.unlisted])).toEqual(
        [],
      )
      expect(await run(store, target)).toEqual({ objects: 0, deliveries: 0 })
      expect((await prune(store)).payloads).toBe(3)
      expect(await restore(store, target, { eventIds: ['a'] })).toEqual({
        restored: 1,
        skipped: 0,
        refused: 0,
      })
      expect(await restore(store, target)).toEqual({ restored: 2, skipped: 1, refused: 0 })
      const payload = await store.inspect.payload({ source: 'shop', id: 'a' })
      expect(bytes.equals(payload!.body)).toBe(true)
      expect(payload!.headers).toEqual({ 'content-type': 'text/ü' })
      // They are known to be in the archive, so they go again without being archived twice.
      expect(await run(store, target)).toEqual({ objects: 0, deliveries: 0 })
      expect((await prune(store)).payloads).toBe(3)
    })
  }

  test('a late arrival of an old day gets a further object, and only then goes', async () => {
    const { target } = await made(directoryArchive())
    const store = bench.store()
    await fill(store, delivery(['a'], day))
    await run(store, target)
    await fill(store, delivery(['late'], day))
    expect((await prune(store)).payloads).toBe(1)
    expect(await store.inspect.payload({ source: 'shop', id: 'late' })).not.toBeNull()
    expect(await run(store, target)).toEqual({ objects: 1, deliveries: 1 })
    expect((await all(archiveList(target)))[0]!.objects.map((one) => one.path)).toEqual([
      'shop/2026-03-10/1.jsonl.gz',
      'shop/2026-03-10/2.jsonl.gz',
    ])
    expect((await prune(store)).payloads).toBe(1)
    expect(await restore(store, target)).toEqual({ restored: 2, skipped: 0, refused: 0 })
  })

  test('a number that an archive knows from another log proves nothing: the bytes are what counts', async () => {
    const { target } = await made(directoryArchive())
    const before = bench.store()
    await fill(before, delivery(['old'], day))
    await run(before, target)
    const [held] = (await before.archive.export({ source: 'shop', from: 0, to: day + 1, after: 0, limit: 1 }))
      .deliveries
    // A log that was restored from an old copy: it gives the number again, to something else.
    const store = renumbered(bench.store(), held!.seq)
    await fill(store, delivery(['new'], day))
    expect(await run(store, target)).toEqual({ objects: 1, deliveries: 1 })
    const [manifest] = await all(archiveList(target))
    expect(manifest).toMatchObject({ deliveries: 2, objects: [{ number: 1 }, { number: 2 }] })
  })

  test('an object that was changed together with its manifest is not restored, also after a later run', async () => {
    const { target, path } = await made(directoryArchive())
    const store = bench.store()
    await fill(store, delivery(['a'], day), delivery(['b'], day))
    await run(store, target)
    expect((await prune(store)).payloads).toBe(2)
    const [manifest] = await all(archiveList(target))
    const [object] = manifest!.objects
    const lines = gunzipSync((await target.read(object!.path))!).toString()
    const body = (text: string) => Buffer.from(text).toString('base64')
    const forged = gzipSync(lines.replace(body('a'), body('A')))
    const sha256 = createHash('sha256').update(forged).digest('hex')
    writeFileSync(join(path, object!.path), forged)
    writeFileSync(
      join(path, 'shop/2026-03-10/manifest.json'),
      JSON.stringify({ ...manifest, objects: [{ ...object, bytes: forged.byteLength, sha256 }] }),
    )
    expect(await restore(store, target)).toEqual({ restored: 0, skipped: 0, refused: 2 })
    await fill(store, delivery(['late'], day))
    expect(await run(store, target)).toEqual({ objects: 1, deliveries: 1 })
    expect(await restore(store, target)).toEqual({ restored: 0, skipped: 1, refused: 2 })
    for (const eventId of ['a', 'b'])
      expect(await store.inspect.payload({ source: 'shop', id: eventId })).toBeNull()
  })

  test('an object of a run that died before the log knew of it is found by the next run', async () => {
    const { target } = await made(directoryArchive())
    const store = bench.store()
    await fill(store, delivery(['a'], day), delivery(['b'], day))
    const forgetful = { ...store, archive: { ...store.archive, archived: async () => {} } }
    await run(forgetful, target)
    expect((await prune(store)).payloads).toBe(0)
    expect(await run(store, target)).toEqual({ objects: 0, deliveries: 0 })
    expect((await prune(store)).payloads).toBe(2)
    expect(await restore(store, target)).toEqual({ restored: 2, skipped: 0, refused: 0 })
  })

  test('a second archive of the same day takes nothing from the first', async () => {
    const [first, second] = [await made(directoryArchive()), await made(directoryArchive())]
    const store = bench.store()
    await fill(store, delivery(['a'], day))
    await run(store, first.target)
    await fill(store, delivery(['late'], day))
    await run(store, second.target)
    expect((await prune(store)).payloads).toBe(2)
    for (const { target } of [first, second])
      expect(await restore(store, target)).toEqual({ restored: 1, skipped: 0, refused: 0 })
  })

  test('what is erased is in no later archive, and does not come back from an earlier one', async () => {
    const { target } = await made(directoryArchive())
    const store = bench.store()
    await fill(store, delivery(['a'], day), delivery(['b'], day))
    await store.archive.erase({ reference: 'about a', actor: 'ada', note: '', limit: 10 })
    expect(await run(store, target)).toEqual({ objects: 1, deliveries: 1 })
    await store.archive.erase({ reference: 'about b', actor: 'ada', note: '', limit: 10 })
    expect(await restore(store, target)).toEqual({ restored: 0, skipped: 1, refused: 0 })
    expect(await store.inspect.payload({ source: 'shop', id: 'b' })).toBeNull()
  })
})

onLog('SQLite', (bench) => {
  test('a manifest cannot name a file outside of its day, and a link is not followed', async () => {
    const { target, path } = await made(directoryArchive())
    const outside = await made(directoryArchive())
    const store = bench.store()
    await fill(store, delivery(['a'], day), delivery(['b'], day + 24 * HOUR_MS))
    await run(store, target)
    await prune(store)
    const [manifest] = await all(archiveList(target))
    const [object] = manifest!.objects
    const hidden = join(outside.path, 'hidden')
    writeFileSync(hidden, (await target.read(object!.path))!)
    const names = [
      relative(path, hidden),
      `shop/2026-03-10/${'../'.repeat(12)}${hidden}`,
      hidden,
      'shop/2026-03-11/1.jsonl.gz',
      'shop/2026-03-10/../2026-03-10/1.jsonl.gz',
    ]
    const place = join(path, 'shop/2026-03-10/manifest.json')
    for (const name of names) {
      writeFileSync(place, JSON.stringify({ ...manifest, objects: [{ ...object, path: name }] }))
      await expect(restore(store, target)).rejects.toMatchObject({ code: 'ARCHIVE_DAMAGED' })
      expect((await all(archiveVerify(target)))[0]!.problems).toHaveLength(1)
      await expect(target.read(relative(path, hidden))).rejects.toMatchObject({ code: 'ARCHIVE_FAILED' })
    }
    writeFileSync(place, JSON.stringify(manifest))
    await rm(join(path, object!.path))
    await symlink(hidden, join(path, object!.path))
    await expect(restore(store, target)).rejects.toMatchObject({ code: 'ARCHIVE_FAILED' })
    expect(await store.inspect.payload({ source: 'shop', id: 'a' })).toBeNull()
  })

  test('a few compressed bytes that stand for half a gigabyte are reported, without filling the memory', async () => {
    const { target, path } = await made(directoryArchive())
    const store = bench.store()
    await fill(store, delivery(['a'], day))
    await run(store, target)
    const [manifest] = await all(archiveList(target))
    const [object] = manifest!.objects
    const line = gunzipSync((await target.read(object!.path))!)
    const parts = {
      'one line': Buffer.alloc(1 << 24, 'x'),
      lines: Buffer.alloc(1 << 24, line),
      none: Buffer.alloc(1 << 24, 10),
    }
    for (const [name, part] of Object.entries(parts)) {
      // Members of a gzip file follow each other: 528 MiB in all, and an object has at most 512.
      const bomb = Buffer.concat(Array(33).fill(gzipSync(part)))
      const sha256 = createHash('sha256').update(bomb).digest('hex')
      writeFileSync(join(path, object!.path), bomb)
      writeFileSync(
        join(path, 'shop/2026-03-10/manifest.json'),
        JSON.stringify({ ...manifest, objects: [{ ...object, bytes: bomb.byteLength, sha256 }] }),
      )
      const { stdout } = await promisify(execFile)(process.execPath, [
        '--input-type=module',
        '-e',
        VERIFY,
        path,
      ])
      const { problems, megabytes } = JSON.parse(stdout)
      expect([name, problems]).toEqual([name, [expect.stringContaining('cannot be read')]])
      expect(megabytes).toBeLessThan(500)
    }
  })

  test('large days are cut into objects of bounded size', async () => {
    const { target } = await made(directoryArchive())
    const store = bench.store()
    await fill(store, ...[0, 1, 2, 3, 4].map((i) => delivery([`e${i}`], day + i, Buffer.alloc(1_000, i))))
    expect(await run(store, target, { objectBytes: 2_000 })).toEqual({ objects: 3, deliveries: 5 })
    expect((await all(archiveVerify(target)))[0]).toMatchObject({ objects: 3, deliveries: 5, problems: [] })
  })

  test('an archive that loses or changes what it was given is noticed before anything is removed', async () => {
    const store = bench.store()
    const { target, path } = await made(directoryArchive())
    await fill(store, delivery(['a'], day))
    const lossy: ArchiveTarget = { ...target, create: async () => true }
    await expect(run(store, lossy)).rejects.toMatchObject({ code: 'ARCHIVE_DAMAGED' })
    const changing: ArchiveTarget = {
      ...target,
      create: (at, given) =>
        target.create(
          at,
          given.map((byte, i) => (i === 20 ? byte ^ 1 : byte)),
        ),
    }
    await expect(run(store, changing)).rejects.toMatchObject({ code: 'ARCHIVE_DAMAGED' })
    const forgetful: ArchiveTarget = { ...target, replace: async () => {} }
    await expect(run(store, forgetful)).rejects.toMatchObject({ code: 'ARCHIVE_DAMAGED' })
    const full: ArchiveTarget = {
      ...target,
      create: () => directory(join(path, 'shop')).create('x\0y', new Uint8Array()),
    }
    await expect(run(store, full)).rejects.toMatchObject({ code: 'ARCHIVE_FAILED' })
    expect((await prune(store)).payloads).toBe(0)
    // What was written in vain stays beside, unlisted, and does not count.
    expect(await run(store, target)).toEqual({ objects: 1, deliveries: 1 })
    const [check] = await all(archiveVerify(target))
    expect(check).toMatchObject({ objects: 1, problems: [] })
    expect(check!.unlisted.length).toBeGreaterThan(0)
    expect((await prune(store)).payloads).toBe(1)
    expect((await restore(store, target)).restored).toBe(1)
  })

  test('a run that died before it could tell the store is taken up without writing the same twice', async () => {
    const store = bench.store()
    const { target } = await made(directoryArchive())
    await fill(store, delivery(['a'], day), delivery(['b'], day))
    const dying: CompleteStore = {
      ...store,
      archive: { ...store.archive, archived: () => Promise.reject(new Error('killed')) },
    }
    await expect(run(dying, target)).rejects.toThrow('killed')
    expect((await prune(store)).payloads).toBe(0)
    expect(await run(store, target)).toEqual({ objects: 0, deliveries: 0 })
    expect((await prune(store)).payloads).toBe(2)
  })

  test('a process that has lost its lease tells the store nothing', async () => {
    const store = bench.store()
    const { target } = await made(directoryArchive())
    await fill(store, delivery(['a'], day))
    const insist = () => Promise.reject(new Error('lost'))
    await expect(run(store, target, { insist })).rejects.toThrow('lost')
    expect((await prune(store)).payloads).toBe(0)
    expect(await all(archiveList(target))).toEqual([])
  })

  test('damage is found, named, and stops what depends on it', async () => {
    const store = bench.store()
    const { target, path } = await made(directoryArchive())
    await fill(
      store,
      delivery(['a'], day),
      delivery(['b'], day + 30 * HOUR_MS),
      delivery(['c'], day + 60 * HOUR_MS),
    )
    await run(store, target)
    writeFileSync(join(path, 'shop/2026-03-10/1.jsonl.gz'), 'x')
    await rm(join(path, 'shop/2026-03-11/1.jsonl.gz'))
    writeFileSync(join(path, 'shop/2026-03-12/manifest.json'), '{')
    const checks = await all<ArchiveCheck>(archiveVerify(target))
    expect(checks.map((one) => one.problems)).toEqual([
      [expect.stringContaining('instead of')],
      [expect.stringContaining('missing')],
      [expect.stringContaining('not a manifest')],
    ])
    expect((await prune(store)).payloads).toBe(3)
    await expect(restore(store, target, { to: '2026-03-10' })).rejects.toMatchObject({
      code: 'ARCHIVE_DAMAGED',
    })
  })
})

describe('S3', () => {
  test('a wrong key, a missing bucket and a server that is away are told apart, and no secret is said', async () => {
    const { options } = await made(s3Archive())
    const failing = async (more: object) => {
      const error = await s3({ ...options, ...more })
        .replace('x', Buffer.from('y'))
        .then(
          () => null,
          (caught: Error) => caught,
        )
      expect(error).toMatchObject({ code: 'ARCHIVE_FAILED' })
      expect(error!.message).not.toContain('sesame')
      return error!.message
    }
    expect(await failing({ accessKeyId: 'nobody', secretAccessKey: 'open-sesame' })).toMatch(
      /HTTP 403 InvalidAccessKeyId/,
    )
    expect(await failing({ secretAccessKey: 'open-sesame' })).toMatch(/HTTP 403 SignatureDoesNotMatch/)
    expect(await failing({ endpoint: await closedPort(), secretAccessKey: 'open-sesame' })).toMatch(
      /ECONNREFUSED/,
    )
    expect(await failing({ bucket: 'nowhere' })).toMatch(/NoSuchBucket/)
    await expect(s3({ ...options, bucket: 'nowhere' }).read('x')).rejects.toMatchObject({
      code: 'ARCHIVE_FAILED',
    })
    expect(() => s3({ ...options, secretAccessKey: '' })).toThrow('secretAccessKey')
    expect(() => s3({ ...options, endpoint: 'nowhere' })).toThrow('endpoint')
  })

  test('names that need care', async () => {
    const { target } = await made(s3Archive())
    const odd = 'shop/2026-03-10/a b+c&d.é.json'
    await target.replace(odd, Buffer.from('1'))
    expect(Buffer.from((await target.read(odd))!).toString()).toBe('1')
    expect(await all(target.list('shop'))).toEqual([odd])
    expect(await target.create(odd, Buffer.from('2'))).toBe(false)
    expect(await target.read('shop/none')).toBeNull()
  })

  test('a list longer than a page is read to its end', async () => {
    const { target } = await made(s3Archive())
    const names = ['x/1', 'x/2', 'x/3<', 'x/4&', 'x/5']
    for (const name of names) await target.replace(name, Buffer.from('1'))
    expect(await all(target.list('x'))).toEqual(names)
  })
})

async function closedPort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return `http://127.0.0.1:${port}`
}

test('a directory keeps no half of an object', async () => {
  const { target, path } = await made(directoryArchive())
  await target.create('a/b/c', Buffer.from('x'))
  await target.replace('a/b/c', Buffer.from('y'))
  expect(await target.create('a/b/c', Buffer.from('z'))).toBe(false)
  expect(await readdir(join(path, 'a/b'))).toEqual(['c'])
  expect(await target.read('a/b/none')).toBeNull()
})
