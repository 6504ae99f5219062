import type { Command } from 'commander'
import { action, addCommand } from '../command.js'
import type { ListenOptions } from '../listen/listen.js'
import { addLogOptions, type LogOptions } from '../log/options.js'
import { addSecretOptions, instant, withSecret } from '../options.js'

export function addListen(program: Command): void {
  const command = addCommand(program, 'listen <target>', {
    summary: 'forward recorded events to an app on this machine',
    description:
      'Forwards every event of the log to a local app (a port or a URL), in order, signed again with the local secret. Events that arrive while the app or the listener is down are forwarded later.',
    examples: [
      'hookonce listen 3000',
      'hookonce listen http://localhost:3000/api/webhooks --source stripe --type "invoice.*"',
      'hookonce listen 3000 --server https://hooks.example.com --since 2h',
    ],
  })
    .option('--source <name>', 'only events of this source')
    .option('--type <type>', 'only events of this type; * matches any text')
    .option(
      '--since <time>',
      'where to start: 2026-07-01T12:00:00Z, or 2h for two hours ago (default: where it stopped)',
      instant,
    )
  addSecretOptions(
    command,
    'the secret the app knows (default: the one of hookonce dev in this folder)',
    'HOOKONCE_LISTEN_SECRET',
  )
  addLogOptions(command).action(
    action<ListenOptions & LogOptions>(async ({ output, options }, target: string) => {
      const [{ listen }, { openLog }] = await Promise.all([
        import('../listen/listen.js'),
        import('../log/open-log.js'),
      ])
      const signing = withSecret(options, 'HOOKONCE_LISTEN_SECRET')
      await using log = await openLog(options)
      return await listen(output, log, target, signing)
    }),
  )
}
