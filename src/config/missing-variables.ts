/** The error for a variable that a configuration file needs: where it is used, and which others are missing too. */
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
  const others = new Map(missing.filter(({ name }) => name !== first.name).map((one) => [one.name, one]))
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
