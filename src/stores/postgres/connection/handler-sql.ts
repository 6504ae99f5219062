/**
 * Reads from the SQL of a handler how it changes its transaction and its session. The patterns look for words and do not
 * parse: a text that is judged too strictly only costs a new connection.
 */

/** Begins or ends a transaction: in a handler it would separate the effects from the outcome. */
export type Boundary = 'begin' | 'commit' | 'rollback'

export interface HandlerSql {
  readonly boundary: Boundary | null
  /** Changes the session beyond the end of the transaction: `set search_path`, `listen`. */
  readonly change: string | null
  readonly raisesLevel: boolean
}

const COMMENTS = /^(?:\s|;|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)+/
const WORDS =
  '(?:(begin|start\\s+transaction)|(commit|end|prepare\\s+transaction)|(abort|rollback(?!(?:\\s+(?:work|transaction))?\\s+to\\b)))\\b'
const FIRST = new RegExp(`^${WORDS}`, 'i')
const ANYWHERE = new RegExp(`(?:^|;)\\s*${WORDS}`, 'i')

/** A dollar quote is not in it: it may be a block of code, which `CHANGES` reads. */
const QUOTED = /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|\be'(?:[^'\\]|\\[\s\S]|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"/gi
const DOLLAR_QUOTED = /\$((?:[a-z_]\w*)?)\$[\s\S]*?\$\1\$/gi
/** An SQL function, whose body ends with `end`. */
const SQL_BODY = /\bbegin\s+atomic\b[\s\S]*\bend\b/gi

const START = '(?:^|;|\\bbegin\\s)\\s*'
const IN_BLOCK = '(?:^|;|\\b(?:begin|then|else|loop)\\s)\\s*'
const CHANGES = [
  `${IN_BLOCK}(set\\s+(?!local\\b|transaction\\b|constraints\\b)\\w+(?:\\s+\\w+)?)`,
  `${START}((?:reset|listen|discard|load|deallocate|prepare)\\b)`,
  '\\b(set_config)\\s*\\((?!(?:[^()]|\\([^()]*\\))*,\\s*true\\s*\\))',
  '\\b(create\\s+(?:or\\s+replace\\s+)?(?:(?:global|local)\\s+)?temp(?:orary)?)\\b(?![\\s\\S]*\\bon\\s+commit\\s+drop\\b)',
  '\\b(into\\s+temp(?:orary)?\\s+table)\\b',
  '\\b(pg_temp)\\b',
  '\\b(pg_(?:try_)?advisory_lock(?:_shared)?)\\b',
  '\\b(with\\s+hold)\\b',
].map((pattern) => new RegExp(pattern, 'i'))
const LEVEL = /\b(?:serializable|repeatable\s+read|transaction_isolation|transaction\s+snapshot)\b/i

const known = new Map<string, HandlerSql>()
const KNOWN = 500
const KNOWN_CHARACTERS = 10_000

export function readSql(query: unknown): HandlerSql {
  const text = textOf(query) ?? ''
  let found = known.get(text)
  if (found === undefined) {
    found = read(text)
    if (known.size >= KNOWN) known.clear()
    if (text.length <= KNOWN_CHARACTERS) known.set(text, found)
  }
  return found
}

function read(text: string): HandlerSql {
  const code = text.replace(QUOTED, (found) => (/^(?:--|\/\*)/.test(found) ? ' ' : '_q_'))
  const bare = code.replace(DOLLAR_QUOTED, '_q_').replace(SQL_BODY, '_q_')
  const change = CHANGES.map((pattern) => pattern.exec(code)?.[1]).find((words) => words !== undefined)
  return {
    boundary: boundaryOf(ANYWHERE.exec(bare)),
    change: change?.replace(/\s+/g, ' ') ?? null,
    // Its argument may be quoted: set_config('transaction_isolation', ...).
    raisesLevel: LEVEL.test(text),
  }
}

export function boundaryIn(query: unknown): Boundary | null {
  return boundaryOf(FIRST.exec((textOf(query) ?? '').replace(COMMENTS, '')))
}

function boundaryOf(match: RegExpExecArray | null): Boundary | null {
  const [, begin, commit, rollback] = match ?? []
  if (begin !== undefined) return 'begin'
  if (commit !== undefined) return 'commit'
  return rollback === undefined ? null : 'rollback'
}

function textOf(query: unknown): string | null {
  const text = typeof query === 'string' ? query : (query as { readonly text?: unknown } | null)?.text
  return typeof text === 'string' ? text : null
}
