import type { Command } from 'commander'
import { action, addCommand } from '../command.js'
import { collect, count } from '../parse.js'
import { addSecretOptions, withSecret } from '../secret.js'
import type { SendOptions } from '../send/send.js'

export function addSend(program: Command): void {
  const command = addCommand(program, 'send <provider> [type]', {
    summary: 'send a signed synthetic delivery, as a sender would',
    description:
      'Sends a delivery as this provider would make it, signed by its own rules. Nothing is asked of the real sender.',
    examples: [
      'hookonce send stripe invoice.paid --times 5 --concurrency 5',
      'hookonce send github push --set repository.full_name=me/shop',
      'hookonce send shopify --to https://shop.example/hooks --secret-file shopify.secret',
      'hookonce send stripe --tamper',
    ],
  }).option('--to <url>', 'where to; a bare origin gets /webhooks/<provider> (default http://127.0.0.1:4100)')
  addSecretOptions(
    command,
    'the secret to sign with (default: the one of hookonce dev in this folder)',
    'HOOKONCE_SEND_SECRET',
  )
    .option('--config <file>', 'the configuration whose source signs (default: the one in this folder)')
    .option('--times <n>', 'how often to deliver it', count, 1)
    .option('--concurrency <n>', 'how many at once', count, 1)
    .option('--id <id>', 'the event id (default: a new one)')
    .option('--set <path=value>', 'change a field of the body; may be given again', collect)
    .option('--body <file>', 'this body instead of the sample; - reads standard input')
    .option('--tamper', 'change the body after signing: it should be refused')
    .option('--stale', 'sign it as of too long ago: it should be refused')
    .option('--conflict', 'at the end the same id with other bytes')
    .action(
      action<SendOptions>(async ({ output, options }, provider: string, type?: string) => {
        const { send } = await import('../send/send.js')
        return send(output, provider, type, withSecret(options, 'HOOKONCE_SEND_SECRET'))
      }),
    )
}
