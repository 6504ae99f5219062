import type { Command } from 'commander'
import { action, addCommand } from '../command.js'
import { addSecretOptions, collect, count, withSecret } from '../options.js'
import type { SendOptions } from '../send/send.js'

export function addSend(program: Command): void {
  const command = addCommand(program, 'send <provider> [type]', {
    summary: 'send a signed test delivery, as a real sender would',
    description:
      'Sends a test delivery in the form of this provider, signed by its rules. The real sender is not contacted.',
    examples: [
      'hookonce send stripe invoice.paid --times 5 --concurrency 5',
      'hookonce send github push --set repository.full_name=me/shop',
      'hookonce send shopify --to https://shop.example/hooks --secret-file shopify.secret',
      'hookonce send stripe --tamper',
    ],
  }).option(
    '--to <url>',
    'the URL to send to; /webhooks/<provider> is added to a URL without a path (default http://127.0.0.1:4100)',
  )
  addSecretOptions(
    command,
    'the secret to sign with (default: the one of hookonce dev in this folder)',
    'HOOKONCE_SEND_SECRET',
  )
    .option('--times <n>', 'how many times to deliver it', count, 1)
    .option('--concurrency <n>', 'how many deliveries at once', count, 1)
    .option('--id <id>', 'the event id (default: a new one)')
    .option('--set <path=value>', 'change a field of the body; may be repeated', collect)
    .option('--body <file>', 'a file with the body to send instead of the sample; - reads standard input')
    .option('--tamper', 'change the body after signing; the endpoint should refuse it')
    .option('--stale', 'sign with a time that is too old; the endpoint should refuse it')
    .option('--conflict', 'at the end, also send the same id with other bytes')
    .action(
      action<SendOptions>(async ({ output, options }, provider: string, type?: string) => {
        const { send } = await import('../send/send.js')
        return send(output, provider, type, withSecret(options, 'HOOKONCE_SEND_SECRET'))
      }),
    )
}
