import { readFileSync, statSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { HookonceError } from '../errors.js'

/** The first name of `env(...)` is the one that must be set. */
const ENV_CALL = /\benv\(\s*(['"`])([^'"`]+)\1/g

export function missingVariables(path: string, error: HookonceError): HookonceError {
  const missing = filesFrom(path)
    .flatMap(variablesIn)
    .filter(({ name }) => !process.env[name]?.trim())
  const first = missing.find(({ name }) => name === error.details.name)
  // The name is not a literal in the text.
  if (first === undefined) return error
  const others = new Map(
    missing.filter(({ name }) => name !== first.name).map((variable) => [variable.name, variable]),
  )
  const more = [...others.values()].map(({ name, place }) => `${name} (used at ${place})`).join(', ')
  const details = { name: first.name, use: `used at ${first.place}`, more: more && ` Also not set: ${more}.` }
  return new HookonceError('ENV_MISSING', details, error)
}

function variablesIn(path: string): { readonly name: string; readonly place: string }[] {
  const code = codeOf(path)
  return [...code.matchAll(ENV_CALL)].map(({ 2: name = '', index }) => ({
    name,
    place: `${basename(path)}:${code.slice(0, index).split('\n').length}`,
  }))
}

function codeOf(path: string): string {
  return readFileSync(path, 'utf8').replace(/(^|\s)\/\/.*$/gm, '$1')
}

const IMPORT = /\b(?:from|import|require)\s*\(?\s*(['"])(\.{1,2}\/[^'"]+)\1/g
const MAX_FILES = 100

/** The files that the failed one imports have perhaps not been run, so their text is read. */
function filesFrom(path: string): string[] {
  const found = [path]
  for (let i = 0; i < found.length && i < MAX_FILES; i++)
    for (const { 2: specifier = '' } of codeOf(found[i]!).matchAll(IMPORT)) {
      const imported = fileOf(resolve(dirname(found[i]!), specifier))
      if (imported !== undefined && !found.includes(imported)) found.push(imported)
    }
  return found
}

function fileOf(path: string): string | undefined {
  const names = [path, path.replace(/\.js$/, '.ts'), path.replace(/\.mjs$/, '.mts')]
  for (const end of ['.ts', '.js', '.mjs', '/index.ts', '/index.js']) names.push(`${path}${end}`)
  return names.find((name) => statSync(name, { throwIfNoEntry: false })?.isFile())
}

const assigned =
  /\b(\w*(?:secret|token|password|auth|privatekey|signingkey|apikey)\w*)["']?\s*:\s*\[?\s*(["'`])(?!\$\{)[^"'`]{8,}\2/i
const urlWithPassword = /\b\w+:\/\/[^\s:@/"'`]+:[^\s@/"'`$]+@/

/** Does not return the secret itself. */
export function literalSecrets(text: string): { line: number; name: string }[] {
  return text.split('\n').flatMap((content, index) => {
    if (/^\s*(\/\/|\*|\/\*)/.test(content)) return []
    const name = assigned.exec(content)?.[1] ?? (urlWithPassword.test(content) ? 'a password in a URL' : null)
    return name === null ? [] : [{ line: index + 1, name }]
  })
}
