/** The keys of the configuration and what each must be. `docs/configuration.md` describes them for people. */

import type { HookonceConfig } from './define.js'
import { commits, encryption, limits, processing, redact, retention, seen, spool } from './inbox-keys.js'
import {
  callable,
  choice,
  either,
  flag,
  isPlain,
  mapOf,
  no,
  problemsOf,
  type Rule,
  rule,
  shape,
  text,
} from './rules.js'
import { serverKeys } from './server-keys.js'
import { alerts, destination } from './telling-keys.js'

const store = either(
  rule('a store', (value) => isPlain(value) && typeof value.record === 'function'),
  { ...text, expected: 'its URL (sqlite:events.db, postgres://user@host/db)' },
  { ...callable, expected: 'a function that gives the URL' },
)

const source = rule(
  'what a provider factory returns, such as stripe({ secret })',
  (value) => isPlain(value) && typeof value.verify === 'function' && typeof value.identify === 'function',
)

const logger = rule(
  'a logger with debug, info, warn and error',
  (value) =>
    isPlain(value) && ['debug', 'info', 'warn', 'error'].every((name) => typeof value[name] === 'function'),
)

const config = shape({
  store,
  sources: mapOf(source),
  handlers: callable,
  processing: either(no, processing),
  server: serverKeys,
  limits,
  commits,
  tracing: flag,
  migrate: flag,
  retention: either(no, retention),
  spool,
  seen,
  destinations: mapOf(destination),
  encryption,
  alerts,
  redact,
  log: either(logger, choice('debug', 'info', 'warn', 'error', 'silent')),
} satisfies Record<keyof HookonceConfig, Rule>)

/** Every key there is, with what is above it: `server.admin.tokens`. */
export const configKeys: readonly string[] = keysOf(config)

function keysOf({ keys, each }: Rule, where = ''): string[] {
  if (each !== undefined) return keysOf(each, where)
  return Object.entries(keys ?? {}).flatMap(([name, inner]) => [
    `${where}${name}`,
    ...keysOf(inner, `${where}${name}.`),
  ])
}

/** Every problem of a configuration, in words; none = it can be used. */
export function configProblems(given: unknown): string[] {
  const problems = problemsOf(given, config)
  if (!isPlain(given)) return problems
  const several = isPlain(given.server) && Number(given.server.processes) > 1
  if (several && given.store === 'sqlite::memory:')
    problems.push(
      'server.processes needs a store they can share: each process would have a sqlite::memory: of its own',
    )
  for (const name of ['store', 'sources'] as const)
    if (given[name] === undefined) problems.unshift(`"${name}" is missing`)
  return problems
}
