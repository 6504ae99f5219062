/** Events as deliveries for a local app: signed again, with the secret that app knows. */
import type { Delivery, Source } from '../../provider.js'
import { type DevCredentials, makeCredentials } from '../dev/folder.js'
import { devSource, sourceWith } from '../dev/sources.js'
import { UsageError } from '../failure.js'
import type { EventLog, EventView, PayloadView } from '../log/event-log.js'
import { factories, factoryOf } from '../providers.js'
import { hasConfig } from '../store.js'

export interface Signer {
  /** What signs for a source; null where its provider is not known here. */
  sourceOf(name: string): Source | null
  sign(event: EventView, payload: PayloadView, url: string): Promise<Delivery>
}

export async function createSigner(log: EventLog, secret: string | undefined): Promise<Signer> {
  const known = await log.providers()
  const configured = secret === undefined && hasConfig() ? await configuredSources() : {}
  const made = new Map<string, Source | null>()
  let credentials: DevCredentials | undefined

  function make(name: string): Source | null {
    const own = configured[name]
    if (own) return own
    const key = known[name] ?? name
    if (!factories().some((factory) => factory.key === key)) return null
    if (secret !== undefined) return sourceWith(factoryOf(key), secret)
    credentials ??= makeCredentials(undefined)
    return devSource(factoryOf(key), credentials)
  }

  function sourceOf(name: string): Source | null {
    if (!made.has(name)) made.set(name, make(name))
    return made.get(name)!
  }

  return {
    sourceOf,
    async sign(event, { headers, body }, url) {
      const source = sourceOf(event.source)
      if (source === null) return { method: 'POST', url, headers, body }
      return source.sign({ body, headers, url, id: event.id, type: event.type, now: Date.now() })
    },
  }
}

async function configuredSources(): Promise<Readonly<Record<string, Source>>> {
  const { loadConfig } = await import('../../config/load.js')
  const { store, sources } = (await loadConfig()).config
  if (typeof store === 'object') await store.close()
  return sources
}

/** Where events of a source go: a port is this machine's, and a bare origin gets the path hookonce itself would use. */
export function targetOf(target: string): (source: string) => string {
  const text = /^\d{1,5}$/.test(target) ? `http://127.0.0.1:${target}` : target
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UsageError(
      `"${target}" is neither a port such as 3000 nor a URL such as http://localhost:3000/hooks.`,
    )
  return (source) =>
    url.pathname === '/' && url.search === '' ? new URL(`/webhooks/${source}`, url).href : url.href
}
