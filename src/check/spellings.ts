/**
 * One JSON document in other spellings. All of them are valid JSON; a sender may use any of them and signs the one it
 * sends. Who parses and writes again before verifying gets other bytes.
 */
export interface Spelling {
  readonly name: string
  write(document: object): string
  /**
   * Where the spelling adds a member: the same member spelled plainly. An endpoint that refuses this too has a strict
   * schema and not the fault looked for.
   */
  plainly?(document: object): string
}

export const spellings: readonly Spelling[] = [
  { name: 'whitespace between the values', write: (document) => ` ${JSON.stringify(document, null, 2)}\r\n` },
  {
    name: 'keys in another order',
    write: (document) => JSON.stringify(Object.fromEntries(Object.entries(document).reverse())),
  },
  { name: 'letters written as \\u escapes', write: (document) => escaped(JSON.stringify(document)) },
  added('a number beyond 2^53', '9007199254740993', '1'),
  added('numbers such as 1.0 and 1E2', '[1.0,1E2]', '[1,100]'),
  added('a slash and an accent escaped', '"\\/\\u00E9"', '"a"'),
]

function added(name: string, odd: string, plain: string): Spelling {
  const withMember = (text: string) => (document: object) =>
    `${JSON.stringify(document).slice(0, -1)},"hookonce_check":${text}}`
  return { name, write: withMember(odd), plainly: withMember(plain) }
}

/** The first letter of each text value as an escape; keys stay as they are. */
function escaped(compact: string): string {
  return compact.replace(
    /:"([A-Za-z])/g,
    (_, letter: string) => `:"\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
