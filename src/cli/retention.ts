/** The store, sources and retention options of a command: from the configuration, or those of `hookonce dev`. */
import type { Source } from '../provider.js'
import type { ArchiveTarget } from '../retention/archive/target.js'
import type { RetentionOptions } from '../retention/policy.js'
import type { Store } from '../store.js'
import { Failure, UsageError } from './failure.js'
import { exampleSource, factories } from './sources.js'
import { hasConfig, openExistingStore, readConfig } from './store.js'

interface RetentionContext extends AsyncDisposable {
  readonly store: Store
  readonly sources: ReadonlyMap<string, Source>
  readonly retention: RetentionOptions
}

export async function openRetention(storeUrl: string | undefined): Promise<RetentionContext> {
  if (storeUrl !== undefined && hasConfig())
    throw new UsageError(
      '--store leaves out hookonce.config of this folder, and with it the retention that it sets. Leave --store out, or name another store of this configuration with HOOKONCE_STORE.',
    )
  const store = await openExistingStore(storeUrl)
  const config = hasConfig() ? await readConfig() : null
  return {
    store,
    sources: config ? new Map<string, Source>(Object.entries(config.sources)) : await sourcesIn(store),
    retention: (config?.retention || {}) as RetentionOptions,
    [Symbol.asyncDispose]: () => store.close(),
  }
}

/** `hookonce dev` names each source after its provider, so its retry window is known. */
async function sourcesIn(store: Store): Promise<ReadonlyMap<string, Source>> {
  const names = (await store.stats()).map(({ source }) => source)
  const found = factories().filter(({ key }) => names.includes(key))
  const unknown = names.filter((name) => !found.some(({ key }) => key === name))
  if (unknown.length > 0)
    throw new Failure(
      `The log has events of ${unknown.join(', ')}, and the retry windows of these sources are unknown here. Run this command in the folder of hookonce.config.ts.`,
    )
  return new Map(found.map((factory) => [factory.key, exampleSource(factory)]))
}

/** Opens no log: the archive can be read alone. */
export async function archiveToRead(path: string | undefined): Promise<ArchiveTarget> {
  const config = path === undefined && hasConfig() ? await readConfig() : null
  return archiveTarget(path, (config?.retention || {}) as RetentionOptions)
}

export async function archiveTarget(
  path: string | undefined,
  retention: RetentionOptions,
): Promise<ArchiveTarget> {
  if (path !== undefined) return (await import('../retention/archive/directory.js')).directory(path)
  if (retention.archive) return retention.archive
  throw new UsageError(
    'No archive is configured. Name a folder with --archive, or set retention.archive in hookonce.config.ts.',
  )
}
