/** `docs/reference/options.md` describes the keys for people. */

import { encryptionRule } from '../encryption/key-ring.js'
import { destinationRule } from '../forward/destination.js'
import { logRule, storeRule, storeUrlRule, workersRule } from '../inbox/options.js'
import { limitsRule } from '../intake/receive.js'
import {
  callable,
  either,
  flag,
  isObject,
  mapOf,
  off,
  optionProblems,
  type Rule,
  required,
  rule,
  shape,
} from '../options.js'
import { processingRule } from '../processing/options.js'
import { redactRule } from '../processing/redact.js'
import { retentionRule } from '../retention/policy.js'
import { seenRule } from '../seen/seen.js'
import { serverRule } from '../server/options.js'
import { spoolRule } from '../spool/spool.js'
import { alertsRule } from '../telemetry/alert-rules.js'
import type { HookonceConfig } from './define.js'

const store = either(storeRule, storeUrlRule, {
  ...callable,
  expected: 'a function that returns the URL',
})

const source = rule(
  'made by a provider factory, such as stripe({ secret })',
  (value) => isObject(value) && typeof value.verify === 'function' && typeof value.identify === 'function',
)

const config = shape({
  store: required(store),
  sources: required(mapOf(source)),
  handlers: callable,
  processing: either(off, processingRule),
  server: serverRule,
  limits: limitsRule,
  workers: workersRule,
  tracing: flag,
  migrate: flag,
  retention: either(off, retentionRule),
  spool: spoolRule,
  seen: seenRule,
  destinations: mapOf(destinationRule),
  encryption: encryptionRule,
  alerts: alertsRule,
  redact: redactRule,
  log: logRule,
} satisfies Record<keyof HookonceConfig, Rule>)

/** Full names, such as `server.admin.tokens`. */
export const configKeys: readonly string[] = keysOf(config)

function keysOf({ keys, each }: Rule, where = ''): string[] {
  if (each !== undefined) return keysOf(each, where)
  return Object.entries(keys ?? {}).flatMap(([name, inner]) => [
    `${where}${name}`,
    ...keysOf(inner, `${where}${name}.`),
  ])
}

/** Empty when the configuration can be used. */
export function configProblems(exported: unknown): string[] {
  if (!isObject(exported)) return ['the default export must be an object: defineConfig({ ... })']
  return optionProblems('', exported, config).map(({ what, problem }) => `${what} ${problem}`)
}
