/** A delivery as a command and as a fixture for tests. */
import type { EventView } from '../../api/client'
import type { Payload } from '../../api/queries'
import { serverUrl } from '../../app/base'
import type { Content } from './bytes'

/** In single quotes of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** A NUL cannot be a part of an argument, and other bytes than text not of a command that is copied. */
function isPlain({ isUtf8, text }: Content): boolean {
  return isUtf8 && !text.includes('\0')
}

export function asCurl(event: EventView, payload: Payload, content: Content): string {
  const url = `${serverUrl}/webhooks/${encodeURIComponent(event.source)}`
  const headers = Object.entries(payload.headers).map(
    ([name, value]) => `  -H ${quoted(`${name}: ${value}`)}`,
  )
  const note = '# The log keeps no signature. Where the source verifies one, sign it: hookonce send --body'
  if (isPlain(content)) {
    return [
      note,
      [`curl ${quoted(url)}`, ...headers, `  --data-binary ${quoted(content.text)}`].join(' \\\n'),
    ].join('\n')
  }
  const command = [`curl ${quoted(url)}`, ...headers, '  --data-binary @-'].join(' \\\n')
  return `${note}\nprintf %s ${quoted(payload.body)} | base64 -d | ${command}`
}

export function asFixture(event: EventView, payload: Payload, content: Content): string {
  const { source, id, type, reference } = event
  const body = isPlain(content) ? { body: content.text } : { bodyBase64: payload.body }
  return `${JSON.stringify({ source, id, type, reference, headers: payload.headers, ...body }, null, 2)}\n`
}
