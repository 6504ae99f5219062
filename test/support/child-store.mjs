/** Opens the store a child process was told about: `sqlite <path>` or `postgres <url> <schema>`. */

/**
 * Loads only the store that is used: to load the package is most of the work of a short process.
 * @param {string[]} args
 */
export async function childStore([kind, where = '', schema = '']) {
  if (kind === 'sqlite') return (await import('hookonce/sqlite')).sqlite(where)
  return (await import('hookonce/postgres')).postgres({ url: where, schema })
}

/**
 * One line to the parent. A write to a pipe is done when it returns, so a line once said survives a kill -9.
 * @param {string} text
 */
export function say(text) {
  process.stdout.write(`${text}\n`)
}
