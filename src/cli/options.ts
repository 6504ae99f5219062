/** An option is declared once, for its help, its parser and its type. */
import { readFileSync } from 'node:fs'
import { InvalidArgumentError, Option } from 'commander'
import { parseDuration } from '../duration.js'
import { UsageError } from './failure.js'

/** Its key in the options of a command is its name: `dryRun` is `--dry-run`. */
export interface Declaration<T> {
  /** `<n>`; empty for a switch. */
  readonly argument: string
  readonly about: string
  readonly parse?: (text: string, before?: T) => T
  readonly initial?: T
  readonly choices?: readonly string[]
  /** An environment variable that sets it too. */
  readonly variable?: string
  readonly mandatory?: boolean
}

// biome-ignore lint/suspicious/noExplicitAny: an option of any type
export type Declared = Readonly<Record<string, Declaration<any>>>

type ValueOf<D> = D extends Declaration<infer T> ? T : never
type IsAlways<D> = D extends { readonly initial: unknown } | { readonly mandatory: true } ? true : false

export type OptionsOf<D extends Declared> = {
  readonly [K in keyof D as IsAlways<D[K]> extends true ? K : never]: ValueOf<D[K]>
} & { readonly [K in keyof D as IsAlways<D[K]> extends true ? never : K]?: ValueOf<D[K]> }

export function flag(about: string): Declaration<boolean> {
  return { argument: '', about }
}

export function text(argument: string, about: string): Declaration<string> {
  return { argument, about }
}

/** May be repeated. */
export function texts(argument: string, about: string): Declaration<readonly string[]> {
  return { argument, about, parse: (value, before = []) => [...before, value] }
}

/** `charge={"id":"ch_1"}`, `charge=null`. May be repeated. */
export function effects(argument: string, about: string): Declaration<Readonly<Record<string, unknown>>> {
  return {
    argument,
    about,
    parse(value, before = {}) {
      const at = value.indexOf('=')
      try {
        if (at < 1) throw new Error('no name')
        return { ...before, [value.slice(0, at)]: JSON.parse(value.slice(at + 1)) as unknown }
      } catch {
        throw new InvalidArgumentError(
          'It must be a name and JSON, such as charge=null or charge=\'{"id":"ch_1"}\'.',
        )
      }
    },
  }
}

export function parsed<T>(
  argument: string,
  about: string,
  parse: (text: string) => T,
): Declaration<T> & { readonly parse: (text: string) => T } {
  return { argument, about, parse }
}

export function choice<T extends string>(
  argument: string,
  about: string,
  choices: readonly T[],
): Declaration<T> & { readonly choices: readonly T[] } {
  return { argument, about, choices }
}

export function optionOf(name: string, declared: Declared[string]): Option {
  const { argument, about, parse, initial, choices, variable, mandatory = false } = declared
  const long = `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
  const option = new Option(`${long} ${argument}`.trim(), about).makeOptionMandatory(mandatory)
  if (choices) option.choices(choices)
  if (parse) option.argParser(parse)
  if (variable) option.env(variable)
  return initial === undefined ? option : option.default(initial)
}

export const noteOption = { note: text('<text>', 'a note, for the audit') }

export function count(text: string): number {
  return wholeNumber(text, 1, 1_000_000)
}

export function rate(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value) || value <= 0)
    throw new InvalidArgumentError('It must be a number above 0.')
  return value
}

function wholeNumber(text: string, min: number, max: number): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < min || value > max)
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`)
  return value
}

/** `90s`, `15m`, `24h`, `30d` as milliseconds. */
export function duration(text: string): number {
  const ms = parseDuration(text)
  if (ms === null) throw new InvalidArgumentError('It must be a duration such as 90s, 15m, 24h or 30d.')
  return ms
}

/** A time, or how long ago: `2026-07-01`, `2026-07-01T12:00:00Z`, `2h`. */
export function instant(text: string): number {
  const agoMs = parseDuration(text)
  if (agoMs !== null) return Date.now() - agoMs
  const at = /^\d{4}-\d\d/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(at))
    throw new InvalidArgumentError('It must be a time such as 2026-07-01T12:00:00Z, or an age such as 2h.')
  return at
}

/** Without a value the option is true. */
export function contentHash(text: string): string | true {
  if (!/^[0-9a-f]{64}$/.test(text))
    throw new InvalidArgumentError(
      'It must be the hash that `events show` prints. Write ids before the option.',
    )
  return text
}

/** A calendar day: `2026-07-01`. */
export function day(text: string): string {
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || Number.isNaN(Date.parse(text)))
    throw new InvalidArgumentError('It must be a day such as 2026-07-01.')
  return text
}

export const addressOptions = {
  port: {
    ...parsed('<number>', 'the port to listen on; 0 = any free port (default 4100)', (value) =>
      wholeNumber(value, 0, 65_535),
    ),
    variable: 'HOOKONCE_PORT',
  },
  host: { ...text('<address>', 'the address to listen on (default 127.0.0.1)'), variable: 'HOOKONCE_HOST' },
}

/** `-` is standard input. */
export function readInput(option: string, path: string): Buffer {
  try {
    return readFileSync(path === '-' ? 0 : path)
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException
    throw new UsageError(`${option}: the file ${path} cannot be read (${code}).`)
  }
}

/** No option takes the secret itself: every user of the machine can read a command line, and the shell saves it. */
export function secretOption(what: string, variable: string) {
  return { secretFile: text('<file>', `a file with ${what}, - for standard input; or set ${variable}`) }
}

export function secretOf(file: string | undefined, variable: string): string | undefined {
  return file === undefined ? process.env[variable] || undefined : readSecret(file)
}

/** Editors and `echo` end a file with a newline, which is not part of the secret. */
function readSecret(path: string): string {
  const text = readInput('--secret-file', path).toString('utf8').trim()
  if (text === '') throw new UsageError(`--secret-file: the file ${path} is empty.`)
  return text
}
