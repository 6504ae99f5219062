/** A line is held in memory as a whole, so its length has a limit. */

interface LineLimit {
  readonly maxCharacters: number
  /** Lines are counted from 1. */
  readonly tooLong: (line: number) => Error
}

/** Lines without their LF. The last one may have none. */
export async function* linesOf(
  pieces: AsyncIterable<string>,
  { maxCharacters, tooLong }: LineLimit,
): AsyncGenerator<string> {
  let begun: string[] = []
  let length = 0
  let line = 1
  const finished = () => {
    const text = begun.join('')
    begun = []
    length = 0
    line++
    return text
  }
  for await (const piece of pieces) {
    let from = 0
    for (let end = piece.indexOf('\n'); end >= 0; end = piece.indexOf('\n', from)) {
      begin(piece.slice(from, end))
      yield finished()
      from = end + 1
    }
    begin(piece.slice(from))
  }
  if (begun.length > 0) yield finished()

  function begin(part: string): void {
    if (part === '') return
    begun.push(part)
    length += part.length
    if (length > maxCharacters) throw tooLong(line)
  }
}
