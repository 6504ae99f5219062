/** Server-sent events out of a stream of bytes (the part of the standard that servers use). */
export interface Frame {
  readonly event: string
  readonly data: string
  readonly id: string | null
}

/** A line longer than this is not ours. */
const LINE_LIMIT = 4 * 1024 * 1024

export async function* frames(body: ReadableStream<Uint8Array>): AsyncGenerator<Frame> {
  let event = 'message'
  let id: string | null = null
  const lines: string[] = []
  for await (const line of linesOf(body)) {
    if (line === '') {
      if (lines.length > 0 || id !== null) yield { event, data: lines.join('\n'), id }
      event = 'message'
      id = null
      lines.length = 0
      continue
    }
    const [, field = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []
    if (field === 'event') event = value
    else if (field === 'data') lines.push(value)
    else if (field === 'id') id = value
  }
}

async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split(/\r\n|\n/)
    rest = parts.pop()!
    if (rest.length > LINE_LIMIT) throw new Error('a line without an end')
    yield* parts
  }
}
