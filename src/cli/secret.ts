/**
 * Secrets for a command. On a command line every user of the machine can read them, and the shell keeps them: a file or
 * the environment does not tell.
 */
import { readFileSync } from 'node:fs'
import { type Command, Option } from 'commander'
import { UsageError } from './failure.js'

export interface SecretOptions {
  readonly secret?: string
  readonly secretFile?: string
}

/** `--secret`, `--secret-file` and the variable that holds it. */
export function addSecretOptions(command: Command, what: string, variable: string): Command {
  return command
    .addOption(new Option('--secret <secret>', `${what}; others on this machine can read it here`))
    .addOption(
      new Option('--secret-file <file>', `the same from a file, - for standard input; or set ${variable}`),
    )
}

/** The options with the secret in its place, wherever it came from. */
export function withSecret<Options extends SecretOptions>(options: Options, variable: string): Options {
  const secret = secretOf(options, variable)
  return secret === undefined ? options : { ...options, secret }
}

function secretOf({ secret, secretFile }: SecretOptions, variable: string): string | undefined {
  if (secret !== undefined && secretFile !== undefined)
    throw new UsageError('Give --secret or --secret-file, not both.')
  if (secretFile !== undefined) return inFile(secretFile)
  return secret ?? (process.env[variable] || undefined)
}

/** Editors and echo end a file with a newline, which no sender has in its secret. */
function inFile(path: string): string {
  let text: string
  try {
    text = readFileSync(path === '-' ? 0 : path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new UsageError(`--secret-file cannot be read: ${path} (${code ?? 'unknown'}).`)
  }
  if (text.trim() === '') throw new UsageError(`--secret-file is empty: ${path}.`)
  return text.trim()
}
