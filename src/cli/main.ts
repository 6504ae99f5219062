#!/usr/bin/env node
/** The command line. So far one command: `hookonce dev`, what `npm start` runs. */
import { parseArgs } from 'node:util'
import { isHookonceError } from '../errors.js'
import { dev } from './dev.js'

const help = `hookonce: receive webhooks once

Usage: hookonce dev [--port 4100] [--host 127.0.0.1] [--store sqlite:.hookonce/events.db]

  dev    Receive webhooks on this machine: every provider of the catalogue answers at /webhooks/<provider>.

Options
  --port, --host   where to listen (HOOKONCE_PORT, HOOKONCE_HOST)
  --store          sqlite:path or postgres://user@host/db (HOOKONCE_STORE)
  --help           this text

Example
  hookonce dev --port 4200
`

async function main(): Promise<number> {
  const parsed = readArguments()
  if (parsed === null) return 2
  const { values, positionals } = parsed
  if (values.help || positionals.length === 0) {
    process.stdout.write(help)
    return values.help ? 0 : 2
  }
  if (positionals[0] !== 'dev' || positionals.length > 1) {
    process.stderr.write(
      `There is no command "${positionals.join(' ')}". The command is: dev. See hookonce --help.\n`,
    )
    return 2
  }
  return dev({
    port: values.port ?? process.env.HOOKONCE_PORT ?? '4100',
    host: values.host ?? process.env.HOOKONCE_HOST ?? '127.0.0.1',
    store: values.store ?? process.env.HOOKONCE_STORE ?? 'sqlite:.hookonce/events.db',
  })
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        port: { type: 'string' },
        host: { type: 'string' },
        store: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    })
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\nSee hookonce --help.\n`)
    return null
  }
}

main().then(
  (code) => {
    process.exitCode = code
  },
  (error: unknown) => {
    process.stderr.write(`${isHookonceError(error) ? error.message : String(error)}\n`)
    process.exitCode = 1
  },
)
