/** Signs recorded events again, with the secret of the local app. */
import type { Delivery, Source } from '../../provider.js'
import { type DevCredentials, makeCredentials } from '../dev/folder.js'
import { UsageError } from '../failure.js'
import type { EventLog, EventView, PayloadView } from '../log/event-log.js'
import { devSource, factories, factoryOf, sourceWith } from '../sources.js'
import { hasConfig, readConfig } from '../store.js'

export interface Signer {
  /** Null when the provider of this source is unknown here. */
  sourceOf(name: string): Source | null
  sign(event: EventView, payload: PayloadView, url: string): Promise<Delivery>
}

export async function createSigner(log: EventLog, secret: string | undefined): Promise<Signer> {
  const known = await log.providers()
  const configured = secret === undefined && hasConfig() ? (await readConfig()).sources : {}
  const cache = new Map<string, Source | null>()
  let credentials: DevCredentials | undefined

  function make(name: string): Source | null {
    const configuredSource = configured[name]
    if (configuredSource) return configuredSource
    const key = known[name] ?? name
    if (!factories().some((factory) => factory.key === key)) return null
    if (secret !== undefined) return sourceWith(factoryOf(key), secret)
    credentials ??= makeCredentials()
    return devSource(factoryOf(key), credentials)
  }

  function sourceOf(name: string): Source | null {
    if (!cache.has(name)) cache.set(name, make(name))
    return cache.get(name)!
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

/** A port means this machine; a URL without a path gets /webhooks/<source>. */
export function targetOf(target: string): (source: string) => string {
  const text = /^\d{1,5}$/.test(target) ? `http://127.0.0.1:${target}` : target
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UsageError(
      `The target must be a port such as 3000 or a URL such as http://localhost:3000/hooks, not "${target}".`,
    )
  return (source) =>
    url.pathname === '/' && url.search === '' ? new URL(`/webhooks/${source}`, url).href : url.href
}
