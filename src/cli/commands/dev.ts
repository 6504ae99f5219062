import { type Command, Option } from 'commander'
import { action, addCommand } from '../command.js'
import { portNumber } from '../parse.js'

export function addDev(program: Command): void {
  addCommand(program, 'dev', {
    summary: 'receive webhooks on this machine, with no configuration',
    description: 'Receives webhooks on this machine: every provider answers at /webhooks/<provider>.',
    examples: ['hookonce dev', 'hookonce dev --port 4200 --store postgres://localhost/shop'],
  })
    .addOption(portOption())
    .addOption(hostOption())
    .addOption(new Option('--store <url>', 'sqlite:path or postgres://user@host/db').env('HOOKONCE_STORE'))
    .action(action(async (call) => (await import('../dev.js')).dev(call.options as never)))
}

export function portOption(): Option {
  return new Option('--port <number>', 'where to listen; 0 = any free port')
    .env('HOOKONCE_PORT')
    .argParser(portNumber)
}

export function hostOption(): Option {
  return new Option('--host <address>', 'the address to listen on').env('HOOKONCE_HOST')
}
