/**
 * Every command. A file in `commands/` declares how its command is called; heavy modules (the server, database drivers,
 * the catalogue) are loaded when the command runs, so that `--help` is fast.
 */
import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { addActions } from './commands/actions.js'
import { addCheck } from './commands/check.js'
import { addDev } from './commands/dev.js'
import { addDoctor } from './commands/doctor.js'
import { addEvents } from './commands/events.js'
import { addImport } from './commands/import.js'
import { addInit } from './commands/init.js'
import { addListen } from './commands/listen.js'
import { addMigrate } from './commands/migrate.js'
import { addProviders } from './commands/providers.js'
import { addRetention } from './commands/retention.js'
import { addSend } from './commands/send.js'
import { addServe, addWorker } from './commands/serve.js'
import { addToken } from './commands/token.js'
import { readDevEnvFile } from './env-file.js'

export function createProgram(): Command {
  const program = new Command('hookonce')
    .description('Receive webhooks once.')
    .version(version(), '-v, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command]', 'show help for a command')
    .showSuggestionAfterError(true)
    .showHelpAfterError('See hookonce --help.')
    .exitOverride()
    .hook('preSubcommand', readDevEnvFile)
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'hookonce: ')) })
    .addHelpText(
      'after',
      `
Examples
  hookonce dev
  hookonce send stripe invoice.paid --times 5 --concurrency 5

Exit codes: 0 success, 1 failure, 2 wrong arguments.`,
    )
  addInit(program)
  addDev(program)
  addSend(program)
  addCheck(program)
  addServe(program)
  addWorker(program)
  addMigrate(program)
  addListen(program)
  addEvents(program)
  addActions(program)
  addRetention(program)
  addImport(program)
  addDoctor(program)
  addToken(program)
  addProviders(program)
  return program
}

function version(): string {
  const file = new URL('../../package.json', import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}
