/** The store with the sources whose events it holds: of the configuration, or those of `hookonce dev`. */
import type { Source } from '../../provider.js'
import type { ArchiveTarget } from '../../retention/archive/target.js'
import type { RetentionOptions } from '../../retention/policy.js'
import type { Store } from '../../store.js'
import { makeCredentials } from '../dev/folder.js'
import { devSource } from '../dev/sources.js'
import { Failure, UsageError } from '../failure.js'
import { factories } from '../providers.js'
import { hasConfig, openExistingStore } from '../store.js'

export interface Kept extends AsyncDisposable {
  readonly store: Store
  readonly sources: ReadonlyMap<string, Source>
  readonly retention: RetentionOptions
}

export async function openKept(given: string | undefined): Promise<Kept> {
  const store = await openExistingStore(given)
  const configured = hasConfig() ? await configuration() : null
  const sources = configured?.sources ?? (await sourcesIn(store))
  return {
    store,
    sources,
    retention: configured?.retention ?? {},
    [Symbol.asyncDispose]: () => store.close(),
  }
}

async function configuration() {
  const { loadConfig } = await import('../../config/load.js')
  const { config } = await loadConfig()
  if (typeof config.store === 'object') await config.store.close()
  const sources = new Map<string, Source>(Object.entries(config.sources))
  return { sources, retention: (config.retention || {}) as RetentionOptions }
}

/** The names of hookonce dev are those of providers, and a provider knows how long its sender retries. */
async function sourcesIn(store: Store): Promise<ReadonlyMap<string, Source>> {
  const names = (await store.stats()).map(({ source }) => source)
  const found = factories().filter(({ key }) => names.includes(key))
  const unknown = names.filter((name) => !found.some(({ key }) => key === name))
  if (unknown.length > 0)
    throw new Failure(
      `The retry windows of the senders of ${unknown.join(', ')} are unknown here. Run this in the folder of hookonce.config.ts.`,
    )
  if (found.length === 0) return new Map()
  const credentials = makeCredentials(undefined)
  return new Map(found.map((factory) => [factory.key, devSource(factory, credentials)]))
}

export async function archiveTarget(
  path: string | undefined,
  retention: RetentionOptions,
): Promise<ArchiveTarget> {
  if (path !== undefined) return (await import('../../retention/archive/directory.js')).directory(path)
  if (retention.archive) return retention.archive
  throw new UsageError(
    'No archive is configured. Name a folder with --archive, or set retention.archive in hookonce.config.ts.',
  )
}

/** Stops between two portions; what is done stays done. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController()
  process.once('SIGINT', () => stop.abort()).once('SIGTERM', () => stop.abort())
  return stop.signal
}
