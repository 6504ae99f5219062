import type { Command } from 'commander'
import { action, addCommand } from '../command.js'
import { addSecretOptions, collect, duration, type SecretOptions, withSecret } from '../options.js'

export function addCheck(program: Command): void {
  const command = addCommand(program, 'check <url>', {
    summary: 'test a webhook endpoint with repeated, simultaneous and forged deliveries',
    description: [
      'Tests any webhook endpoint, built on hookonce or not. It sends signed test events: repeated, many at once, changed, forged, stale and slow. For each trial it prints what happened and why it matters. The endpoint receives test events.',
      'With --probe or --probe-command effects are counted, and double effects are found. Without them the result of many trials is unknown.',
    ].join('\n\n'),
    examples: [
      "hookonce check http://localhost:3000/webhooks --provider stripe --secret-file stripe.secret --probe 'http://localhost:3000/effects?id={id}'",
      'hookonce check http://localhost:3000/webhooks --provider github --probe-command \'psql -Atc "select count(*) from builds"\'',
      'hookonce check http://127.0.0.1:4100/webhooks/stripe --provider stripe',
      'hookonce check https://staging.example.com/webhooks --provider stripe --i-own-this-endpoint --strict --json',
    ],
  }).requiredOption(
    '--provider <provider>',
    'the sender to act as: a source of the configuration, or a provider; see hookonce providers. Or hmac, token, basic, jwt with --option id=json:id',
  )
  addSecretOptions(
    command,
    'the secret the endpoint has (default: that of the configuration, or of hookonce dev)',
    'HOOKONCE_CHECK_SECRET',
  )
    .option(
      '--option <name=value>',
      'another option of the provider, such as header=x-signature or timestamp.in=header:x-time; @file reads the value from a file',
      collect,
    )
    .option('--type <type>', 'the event type to send; it must have an effect')
    .option('--probe <url>', 'a URL that returns the number of effects; {id} stands for the event id')
    .option(
      '--probe-command <command>',
      'a command that prints the number of effects; HOOKONCE_EVENT_ID holds the event id',
    )
    .option('--restart-command <command>', 'a command that restarts the endpoint')
    .option(
      '--crash-command <command>',
      'a command that kills the endpoint in the middle of its work and starts it again',
    )
    .option(
      '--fault <url>',
      'a URL; a POST of {"event_id": ...} makes the endpoint fail the next time it handles that event',
    )
    .option('--only <trial>', 'run only this trial; may be repeated', collect)
    .option(
      '--wait <duration>',
      'how long to wait for an effect; a count that stays unchanged for a tenth of it is final; default 10s',
      duration,
    )
    .option('--strict', 'trials with the result unknown count as failed')
    .option('--i-own-this-endpoint', 'required for an endpoint that is not on this machine')
    .action(
      action<SecretOptions>(async (call, url: string) => {
        const options = withSecret(call.options, 'HOOKONCE_CHECK_SECRET')
        return (await import('../check.js')).check({ ...call, options } as never, url)
      }),
    )
}
