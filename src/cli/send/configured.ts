/** A source of the configuration in this folder, to sign with its own secrets. */
import { loadConfig } from '../../config/load.js'
import { nearest } from '../../options.js'
import type { Source } from '../../provider.js'
import { UsageError } from '../failure.js'

export async function configuredSource(name: string, path: string | undefined): Promise<Source> {
  const { config } = await loadConfig(path === undefined ? {} : { path })
  const { store, sources } = config
  if (typeof store === 'object') await store.close() // only the sources are needed
  const source = sources[name]
  if (source) return source
  const near = nearest(name, Object.keys(sources))
  throw new UsageError(
    `The configuration has no source "${name}".${near ? ` Did you mean ${near}?` : ''} It has: ${Object.keys(sources).join(', ')}. To sign with a secret of your own, give --secret-file.`,
  )
}
