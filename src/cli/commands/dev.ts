import { type Command, Option } from 'commander'
import { action, addCommand } from '../command.js'
import type { DevOptions } from '../dev/dev.js'
import { addSecretOptions, hostOption, portOption, withSecret } from '../options.js'

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
    'the secret that signs test deliveries, stored in .hookonce/ (default: a new one)',
    'HOOKONCE_DEV_SECRET',
  ).action(
    action<DevOptions>(async ({ output, options }) => {
      const { dev } = await import('../dev/dev.js')
      return dev(output, withSecret(options, 'HOOKONCE_DEV_SECRET'))
    }),
  )
}
