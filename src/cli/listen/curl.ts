/** A delivery as a curl command for a POSIX shell. */
import type { Delivery } from '../../provider.js'

export function curlOf({ method, url, headers, body }: Delivery): string {
  const parts = [`curl -X ${method} ${quoted(url)}`]
  for (const [name, value] of Object.entries(headers)) parts.push(`-H ${quoted(`${name}: ${value}`)}`)
  const text = Buffer.from(body).toString('utf8')
  // Bytes that are not text cannot be an argument; they go through a pipe.
  if (Buffer.from(text, 'utf8').equals(Buffer.from(body)) && !text.includes('\0'))
    return [...parts, `--data-raw ${quoted(text)}`].join(' ')
  const piped = `printf %s ${Buffer.from(body).toString('base64')} | base64 -d | `
  return `${piped}${[...parts, '--data-binary @-'].join(' ')}`
}

/** Inside single quotes a shell takes everything as it is but the quote itself. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
