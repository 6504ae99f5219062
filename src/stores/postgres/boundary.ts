/** Statements that begin or end a transaction. In a handler's they would take its effects from its outcome. */
export type Boundary = 'begin' | 'commit' | 'rollback'

/** Comments in front of the statement. */
const COMMENTS = /^(?:\s|;|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)+/
const WORDS =
  /^(?:(begin|start\s+transaction)|(commit|end|prepare\s+transaction)|(abort|rollback(?!(?:\s+(?:work|transaction))?\s+to\b)))\b/i

/** As node-postgres takes a query: a text, or an object with one. Null for every other statement. */
export function boundaryIn(query: unknown): Boundary | null {
  const text = typeof query === 'string' ? query : (query as { readonly text?: unknown } | null)?.text
  if (typeof text !== 'string') return null
  const [, begin, commit, rollback] = WORDS.exec(text.replace(COMMENTS, '')) ?? []
  if (begin !== undefined) return 'begin'
  if (commit !== undefined) return 'commit'
  return rollback === undefined ? null : 'rollback'
}
