/** A delivery as a curl command for a POSIX shell. */
import type { Delivery } from '../../provider.js'
import { plain } from '../output.js'

export function curlOf({ method, url, headers, body }: Delivery): string {
  const parts = [`curl -X ${method} ${quoted(url)}`]
  for (const [name, value] of Object.entries(headers)) parts.push(`-H ${quoted(`${name}: ${value}`)}`)
  const text = Buffer.from(body).toString('utf8')
  // Bytes that are not text cannot be an argument, and a terminal would obey control characters: through a pipe.
  if (Buffer.from(text, 'utf8').equals(Buffer.from(body)) && shown(text) === text)
    return [...parts, `--data-raw ${quoted(text)}`].join(' ')
  const piped = `printf %s ${Buffer.from(body).toString('base64')} | base64 -d | `
  return `${piped}${[...parts, '--data-binary @-'].join(' ')}`
}

/** A command as a terminal may show it. */
export function shown(command: string): string {
  return command.split('\n').map(plain).join('\n')
}

/** Inside single quotes a shell takes everything as it is but the quote itself. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
