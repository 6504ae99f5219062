/** A command is loaded only when it is called: servers, drivers and the catalogue take time to load. */
import { Command } from 'commander'
import { packageVersion } from '../package-version.js'
import { sentence } from './command.js'
import { readDevEnvFile } from './env-file.js'

/** The help lists them in this order. */
const summaries = {
  init: 'add hookonce to the project in this folder',
  dev: 'run a development server on this machine, without a configuration',
  send: 'send a signed test delivery, as a real sender would',
  check: 'test a webhook endpoint with repeated, simultaneous and forged deliveries',
  serve: 'run the server of a configuration: receive webhooks and handle them',
  worker: 'run only the handlers of a configuration',
  migrate: 'bring the schema of a log up to date',
  listen: 'forward recorded events to an app on this machine',
  events: 'read the event log',
  why: 'say which event last wrote a row of your database (PostgreSQL)',
  retry: 'try failed or ignored events again',
  replay: 'run events again, also succeeded ones (with --force)',
  ignore: 'mark events as ignored, so that they are not handled',
  reconcile: 'ask the sender what it has sent, and record what is missing',
  pause: 'hold back the events of a source, in all processes; without a source: list what is paused',
  resume: 'handle the events of a paused source again',
  prune: 'delete expired payloads and events',
  archive: 'store payloads outside the log, and restore them',
  erase: 'delete the payloads of all events with one reference',
  import: 'make events known that another program has handled',
  doctor: 'check configuration, store and log for problems',
  mcp: 'serve the event log to an assistant (Model Context Protocol)',
  token: 'create tokens for the admin API',
  providers: 'list the supported senders, or show one',
} as const

type Name = keyof typeof summaries

const files: Readonly<Partial<Record<Name, string>>> = {
  worker: 'serve',
  retry: 'actions',
  replay: 'actions',
  ignore: 'actions',
  resume: 'pause',
}

/** Loads only the command `called`; the help needs no more than the names of the others. */
export async function createProgram(called?: string): Promise<Command> {
  const program = new Command('hookonce')
    .description('Receive webhooks once.')
    .version(packageVersion()!, '-v, --version', 'print the version')
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
  for (const [name, summary] of Object.entries(summaries)) {
    const isCalled = called === undefined || called === name
    const command = isCalled ? await load(program, name as Name) : program.command(name)
    command.summary(summary)
    if (command.description() === '') command.description(sentence(summary))
  }
  return program
}

async function load(program: Command, name: Name): Promise<Command> {
  const { add } = (await import(`./commands/${files[name] ?? name}.js`)) as CommandModule
  add(program, name)
  return program.commands.find((command) => command.name() === name)!
}

interface CommandModule {
  /** `name` is for modules with several commands. */
  add(program: Command, name: string): void
}
