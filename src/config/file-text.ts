/** Findings in the text of a configuration file: variables that are not set, and secrets written as literals. */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { HookonceError } from '../errors.js'

/** The first name of `env(...)` is the one that must be set. */
const ENV_CALL = /\benv\(\s*(['"`])([^'"`]+)\1/g

export function missingVariables(path: string, error: HookonceError): HookonceError {
  const missing = variablesIn(path).filter(({ name }) => !process.env[name]?.trim())
  const first = missing.find(({ name }) => name === error.details.name)
  // Used in a file that this one imports: its place is not known here.
  if (first === undefined) return error
  const others = new Map(
    missing.filter(({ name }) => name !== first.name).map((variable) => [variable.name, variable]),
  )
  const more = [...others.values()].map(({ name, place }) => `${name} (used at ${place})`).join(', ')
  const details = { name: first.name, use: `used at ${first.place}`, more: more && ` Also not set: ${more}.` }
  return new HookonceError('ENV_MISSING', details, error)
}

function variablesIn(path: string): { readonly name: string; readonly place: string }[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line, index) => {
      const code = line.replace(/(^|\s)\/\/.*$/, '')
      return [...code.matchAll(ENV_CALL)].map(([, , name = '']) => ({
        name,
        place: `${basename(path)}:${index + 1}`,
      }))
    })
}

const assigned =
  /\b(\w*(?:secret|token|password|auth|privatekey|signingkey|apikey)\w*)["']?\s*:\s*\[?\s*(["'`])(?!\$\{)[^"'`]{8,}\2/i
const urlWithPassword = /\b\w+:\/\/[^\s:@/"'`]+:[^\s@/"'`$]+@/

/** Places such as `hookonce.config.ts:7`. The secret itself is not repeated. */
export function literalSecrets(text: string): { line: number; name: string }[] {
  return text.split('\n').flatMap((content, index) => {
    if (/^\s*(\/\/|\*|\/\*)/.test(content)) return []
    const name = assigned.exec(content)?.[1] ?? (urlWithPassword.test(content) ? 'a password in a URL' : null)
    return name === null ? [] : [{ line: index + 1, name }]
  })
}
