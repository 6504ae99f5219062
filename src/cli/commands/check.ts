import type { Command } from 'commander'
import { action, addCommand } from '../command.js'
import { collect, duration } from '../parse.js'
import { addSecretOptions, type SecretOptions, withSecret } from '../secret.js'

export function addCheck(program: Command): void {
  const command = addCommand(program, 'check <url>', {
    summary: 'examine how a webhook endpoint takes repeated, simultaneous and forged deliveries',
    description: [
      'Examines any webhook endpoint, on hookonce or not: sends signed test events, then the same again, many at once, changed, forged, stale and slow ones, and says what it saw and why it matters. The endpoint will see test events.',
      'With --probe or --probe-command effects are counted, so that a double effect is proven; without, it stays unknown.',
    ].join('\n\n'),
    examples: [
      "hookonce check http://localhost:3000/webhooks --provider stripe --secret-file stripe.secret --probe 'http://localhost:3000/effects?id={id}'",
      'hookonce check http://localhost:3000/webhooks --provider github --probe-command \'psql -Atc "select count(*) from builds"\'',
      'hookonce check https://staging.example.com/webhooks --provider stripe --i-own-this-endpoint --junit check.xml',
    ],
  }).requiredOption('--provider <provider>', 'whose deliveries to send; see hookonce providers')
  addSecretOptions(command, 'the secret the endpoint has', 'HOOKONCE_CHECK_SECRET')
    .option(
      '--option <name=value>',
      'another option of the provider; @file reads the value from a file',
      collect,
    )
    .option('--type <type>', 'the event type to send: one that has an effect')
    .option('--probe <url>', 'a URL that gives the number of effects; {id} stands for the event id')
    .option('--probe-command <command>', 'prints the number of effects; HOOKONCE_EVENT_ID holds the event id')
    .option('--restart-command <command>', 'restarts the endpoint')
    .option('--crash-command <command>', 'kills the endpoint in the middle of its work and starts it again')
    .option('--fault <url>', 'a POST here makes the endpoint fail the next time it handles {"event_id": ...}')
    .option('--only <trial>', 'hold only this trial; may be given several times', collect)
    .option('--timeout <duration>', 'for one request; default 30s', duration)
    .option('--settle <duration>', 'how long a count of effects must stand still; default 1s', duration)
    .option('--wait <duration>', 'how long to wait for an effect; default 10s', duration)
    .option('--delay <duration>', 'how long the trial "later" waits; default 3s', duration)
    .option(
      '--time-limit <duration>',
      "how long an answer may take; default: the sender's own limit",
      duration,
    )
    .option('--strict', 'what is unknown counts as failed')
    .option('--junit <file>', 'also write the report as JUnit XML')
    .option('--i-own-this-endpoint', 'needed for any endpoint that is not on this machine')
    .action(
      action<SecretOptions>(async (call, url: string) => {
        const options = withSecret(call.options, 'HOOKONCE_CHECK_SECRET')
        return (await import('../check.js')).check({ ...call, options } as never, url)
      }),
    )
}
