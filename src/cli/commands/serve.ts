import type { Command } from 'commander'
import { action, addCommand } from '../command.js'
import { count, hostOption, portOption } from '../options.js'
import type { ServeOptions, WorkerOptions } from '../serve.js'

export function addServe(program: Command): void {
  addCommand(program, 'serve', {
    summary: 'run the server of a configuration: receive webhooks and handle them',
    description:
      'Receives webhooks, runs their handlers and serves the admin API, as configured in hookonce.config.ts, until SIGTERM.',
    examples: [
      'hookonce serve',
      'hookonce serve --config hooks/hookonce.config.ts --port 8080',
      'hookonce serve --receive-only',
    ],
  })
    .option('--config <file>', 'the configuration (default: hookonce.config.ts, .js or .mjs)')
    .option('--store <url>', 'overrides the store of the configuration (HOOKONCE_STORE)')
    .addOption(portOption())
    .addOption(hostOption())
    .option('--receive-only', 'run no handlers in this process; start hookonce worker for them')
    .action(
      action<ServeOptions>(async ({ output, options }) =>
        (await import('../serve.js')).serve(output, options),
      ),
    )
}

export function addWorker(program: Command): void {
  addCommand(program, 'worker', {
    summary: 'run only the handlers of a configuration',
    description:
      'Runs the handlers of hookonce.config.ts on the events in the log, until SIGTERM. Start as many workers as you need.',
    examples: ['hookonce worker', 'hookonce worker --concurrency 32'],
  })
    .option('--config <file>', 'the configuration (default: hookonce.config.ts, .js or .mjs)')
    .option('--store <url>', 'overrides the store of the configuration (HOOKONCE_STORE)')
    .option('--concurrency <n>', 'how many attempts run at once', count)
    .action(
      action<WorkerOptions>(async ({ output, options }) =>
        (await import('../serve.js')).worker(output, options),
      ),
    )
}
