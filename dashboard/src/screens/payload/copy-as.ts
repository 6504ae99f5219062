import { curlCommand } from '../../../../src/curl'
import type { EventView } from '../../api/client'
import type { Payload } from '../../api/queries'
import { serverUrl } from '../../app/base'
import type { Content } from './bytes'

/** Without a signature, because the log keeps none: the page says so where it is copied. */
export function asCurl(event: EventView, payload: Payload, { isUtf8, text }: Content): string {
  const command = curlCommand({
    url: `${serverUrl}/webhooks/${encodeURIComponent(event.source)}`,
    headers: payload.headers,
    text: isUtf8 ? text : null,
    base64: payload.body,
  })
  return command
}

export function asFixture(event: EventView, payload: Payload, { isUtf8, text }: Content): string {
  const { source, id, type, reference } = event
  const body = isUtf8 ? { body: text } : { bodyBase64: payload.body }
  return `${JSON.stringify({ source, id, type, reference, headers: payload.headers, ...body }, null, 2)}\n`
}
