import { type Command, Option } from 'commander'
import { action, addCommand, addGroup } from '../command.js'
import { duration } from '../parse.js'
import type { TokenOptions } from '../token.js'

export function addToken(program: Command): void {
  const token = addGroup(program, 'token', 'create tokens for the admin API')
  addCommand(token, 'create', {
    summary: 'create a token and its line for the configuration',
    description:
      'Creates a token. It is shown once and not stored; the configuration gets its SHA-256. No server or store is needed.',
    examples: [
      'hookonce token create --name ada --role operator',
      'hookonce token create --name ci --role viewer --expires 90d --json',
    ],
  })
    .requiredOption('--name <name>', 'the name of its owner, shown in the audit')
    .addOption(
      new Option('--role <role>', 'the role of the token')
        .choices(['viewer', 'operator', 'admin', 'worker'])
        .makeOptionMandatory(),
    )
    .option('--expires <duration>', 'how long it is valid, such as 90d (default: without end)', duration)
    .action(
      action<TokenOptions>(async ({ output, options }) =>
        (await import('../token.js')).createToken(output, options),
      ),
    )
}
