import type { Command } from 'commander'
import { roles } from '../../server/admin/options.js'
import { addCommand, addGroup } from '../command.js'
import { UsageError } from '../failure.js'
import { choice, duration, type OptionsOf, parsed, text } from '../options.js'
import type { Output } from '../output.js'

const options = {
  name: { ...text('<name>', 'the name of its owner, shown in the audit'), mandatory: true as const },
  role: { ...choice('<role>', 'the role of the token', roles), mandatory: true as const },
  expires: parsed('<duration>', 'how long it is valid, such as 90d (default: it does not expire)', duration),
}

export function add(program: Command): void {
  addCommand(addGroup(program, 'token'), 'create', {
    summary: 'create a token and its line for the configuration',
    description:
      'Creates a token. It is shown once and not stored; the configuration gets its SHA-256. No server or store is needed.',
    examples: [
      'hookonce token create --name ada --role operator',
      'hookonce token create --name ci --role viewer --expires 90d --json',
    ],
    options,
    run: ({ output, options }) => createToken(output, options),
  })
}

async function createToken(
  output: Output,
  { name, role, expires }: OptionsOf<typeof options>,
): Promise<void> {
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
