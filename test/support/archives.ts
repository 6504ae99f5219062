/** Archives to test against: a directory, and S3. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ArchiveTarget, directory, type S3Options, s3 } from 'hookonce/archive'
import { startS3 } from './s3-server.js'

export interface TestArchive {
  readonly target: ArchiveTarget
  remove(): Promise<void>
}

export async function directoryArchive(): Promise<TestArchive & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'hookonce-archive-'))
  return { target: directory(path), path, remove: () => rm(path, { recursive: true, force: true }) }
}

export async function s3Archive(): Promise<TestArchive & { readonly options: S3Options }> {
  const account = {
    bucket: 'events',
    region: 'us-east-1',
    accessKeyId: 'archivist',
    secretAccessKey: 'quills',
  }
  const { endpoint, close } = await startS3(account)
  const options = { ...account, endpoint, prefix: 'kept' }
  return { options, target: s3(options), remove: close }
}
