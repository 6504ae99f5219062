/** Opens the store a child process was told about: `sqlite <path>` or `postgres <url> <schema>`. */
import { postgres } from 'hookonce/postgres'
import { sqlite } from 'hookonce/sqlite'

/** @param {string[]} args */
export function childStore([kind, where = '', schema = '']) {
  return kind === 'sqlite' ? sqlite(where) : postgres({ url: where, schema })
}

/**
 * One line to the parent. A write to a pipe is done when it returns, so a line once said survives a kill -9.
 * @param {string} text
 */
export function say(text) {
  process.stdout.write(`${text}\n`)
}
