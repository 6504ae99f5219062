/** hookonce/archive: archives payloads before retention removes them, and restores them. */
export { directory } from './directory.js'
export type { ArchivedObject, Manifest } from './format.js'
export {
  type ArchiveCheck,
  type ArchiveFilter,
  type ArchiveRestoreOptions,
  archiveList,
  archiveRestore,
  archiveVerify,
  type RestoreReport,
} from './read.js'
export { type ArchiveProgress, type ArchiveReport, type ArchiveRunOptions, archiveRun } from './run.js'
export { type S3Options, s3 } from './s3.js'
export type { ArchiveTarget } from './target.js'
