import { type Command, Option } from 'commander'
import { action, addCommand, addGroup } from '../command.js'
import { duration } from '../parse.js'
import type { TokenOptions } from '../token.js'

export function addToken(program: Command): void {
  const token = addGroup(program, 'token', 'tokens for the admin API')
  addCommand(token, 'create', {
    summary: 'make a token and its line for the configuration',
    description:
      'Makes a token. It is shown once and kept nowhere: the configuration gets its SHA-256. Nothing is connected to.',
    examples: [
      'hookonce token create --name ada --role operator',
      'hookonce token create --name ci --role viewer --expires 90d --json',
    ],
  })
    .requiredOption('--name <name>', 'who it is for: shown in the audit')
    .addOption(
      new Option('--role <role>', 'what it may do')
        .choices(['viewer', 'operator', 'admin', 'worker'])
        .makeOptionMandatory(),
    )
    .option('--expires <duration>', 'how long it lasts, such as 90d (default: for good)', duration)
    .action(
      action<TokenOptions>(async ({ output, options }) =>
        (await import('../token.js')).createToken(output, options),
      ),
    )
}
