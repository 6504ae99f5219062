import { type Command, Option } from 'commander'
import { action, addCommand } from '../command.js'
import type { DevOptions } from '../dev/dev.js'
import { portNumber } from '../parse.js'
import { addSecretOptions, withSecret } from '../secret.js'

export function addDev(program: Command): void {
  const command = addCommand(program, 'dev', {
    summary: 'run a development server on this machine, without a configuration',
    description:
      'Runs a development server on this machine. Every provider has an endpoint at /webhooks/<provider>, with a secret created for this folder.',
    examples: [
      'hookonce dev',
      'hookonce dev --port 4200 --store postgres://localhost/shop',
      'hookonce dev --forward http://localhost:3000/hooks',
    ],
  })
    .addOption(portOption())
    .addOption(hostOption())
    .addOption(
      new Option(
        '--store <url>',
        'sqlite:path or postgres://user@host/db (default sqlite:.hookonce/events.db)',
      ).env('HOOKONCE_STORE'),
    )
    .option('--forward <url>', 'forward every event to this address, signed as Standard Webhooks')
    .option(
      '--config <file>',
      'the configuration file (default: hookonce.config.ts, .js or .mjs, if it exists)',
    )
  addSecretOptions(
    command,
    'what deliveries are signed with, kept in .hookonce/ (default: a new one)',
    'HOOKONCE_DEV_SECRET',
  ).action(
    action<DevOptions>(async ({ output, options }) => {
      const { dev } = await import('../dev/dev.js')
      return dev(output, withSecret(options, 'HOOKONCE_DEV_SECRET'))
    }),
  )
}

export function portOption(): Option {
  return new Option('--port <number>', 'the port to listen on; 0 = any free port (default 4100)')
    .env('HOOKONCE_PORT')
    .argParser(portNumber)
}

export function hostOption(): Option {
  return new Option('--host <address>', 'the address to listen on (default 127.0.0.1)').env('HOOKONCE_HOST')
}
