/** Archives to test against: a directory, and a real server of the S3 protocol. */
import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ArchiveTarget, directory, s3 } from 'hookonce/archive'

export interface TestArchive {
  readonly target: ArchiveTarget
  remove(): Promise<void>
}

export async function directoryArchive(): Promise<TestArchive & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'hookonce-archive-'))
  return { target: directory(path), path, remove: () => rm(path, { recursive: true, force: true }) }
}

export async function s3Archive(): Promise<TestArchive & { readonly endpoint: string }> {
  const { default: S3rver } = await import('s3rver')
  const folder = await mkdtemp(join(tmpdir(), 'hookonce-s3-'))
  const server = new S3rver({
    port: 0,
    address: '127.0.0.1',
    silent: true,
    directory: folder,
    configureBuckets: [{ name: 'events', configs: [] }],
  })
  const address = (await server.run()) as AddressInfo
  const endpoint = `http://127.0.0.1:${address.port}`
  return {
    endpoint,
    target: s3({
      endpoint,
      bucket: 'events',
      region: 'us-east-1',
      accessKeyId: 'S3RVER',
      secretAccessKey: 'S3RVER',
      prefix: 'kept',
    }),
    async remove() {
      await server.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
