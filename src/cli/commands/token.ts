import { type Command, Option } from 'commander'
import { action, addCommand, addGroup } from '../command.js'
import { UsageError } from '../failure.js'
import { duration } from '../options.js'
import type { Output } from '../output.js'

interface TokenOptions {
  readonly name: string
  readonly role: string
  readonly expires?: number
}

export function add(program: Command): void {
  const token = addGroup(program, 'token')
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
    .option(
      '--expires <duration>',
      'how long it is valid, such as 90d (default: it does not expire)',
      duration,
    )
    .action(action<TokenOptions>(({ output, options }) => createToken(output, options)))
}

async function createToken(output: Output, { name, role, expires }: TokenOptions): Promise<void> {
  const { createHash, randomBytes } = await import('node:crypto')
  if (!/^[A-Za-z0-9_.@+-]{1,64}$/.test(name))
    throw new UsageError('--name may have letters, digits and _ . @ + -, at most 64 characters.')
  const token = `hko_${randomBytes(32).toString('base64url')}`
  const entry = {
    name,
    role,
    sha256: createHash('sha256').update(token).digest('hex'),
    ...(expires === undefined ? {} : { expiresAt: new Date(Date.now() + expires).toISOString() }),
  }
  output.result({ token, entry }, () => token)
  if (output.json) return
  const line = Object.entries(entry)
    .map(([key, value]) => `${key}: '${value}'`)
    .join(', ')
  output.say(
    `The token is shown only this time. Add this line to server.admin.tokens in hookonce.config.ts:\n  { ${line} },`,
  )
}
