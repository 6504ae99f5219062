/** A variable that is set keeps its value, even an empty one. Errors name the file and never a value. */
import { existsSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import type { Command } from 'commander'
import { UsageError } from './failure.js'

/** Commander calls it before it reads the variables of other options. */
export function readEnvFile(path: string): string {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error'
    throw new UsageError(`The file of --env-file, ${path}, cannot be read (${code}).`)
  }
  for (const [name, value] of Object.entries(parseEnv(text))) process.env[name] ??= value
  return path
}

export function readDevEnvFile(program: Command, command: Command): void {
  const named = program.args.some((word) => word === '--env-file' || word.startsWith('--env-file='))
  if (command.name() === 'dev' && !named && existsSync('.env')) readEnvFile('.env')
}
