/**
 * docs/reference/options.md: the text of options.md beside this file, and the members of the public interfaces with their
 * comments, read from the sources.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { root } from '../checks/run.mjs'

/** [heading, file, interface, what it is] @type {[string, string, string, string][]} */
const interfaces = [
  [
    'createInbox(options)',
    'src/inbox/options.ts',
    'InboxOptions',
    'The configuration file has the same keys, except `ownsStore` and `clock`.',
  ],
  [
    'Keys of the configuration file only',
    'src/config/define.ts',
    'HookonceConfig',
    'Besides those of `createInbox`.',
  ],
  ['processing', 'src/processing/options.ts', 'ProcessingOptions', 'How this process runs handlers.'],
  [
    'retry',
    'src/processing/failure.ts',
    'RetryPolicy',
    'In `processing` for all handlers, or in the options of one.',
  ],
  ['limits', 'src/intake/receive.ts', 'LimitOptions', 'The largest and slowest delivery that is accepted.'],
  ['spool', 'src/spool/spool.ts', 'SpoolOptions', 'See [the spool](../outages.md#the-spool).'],
  ['retention', 'src/retention/policy.ts', 'RetentionOptions', 'See [retention](../retention.md).'],
  [
    'retention of a source',
    'src/provider.ts',
    'RetentionAges',
    'In `retention` of the inbox, and in `retention` of a source for that one.',
  ],
  ['encryption', 'src/encryption/key-ring.ts', 'EncryptionOptions', 'See [retention](../retention.md).'],
  [
    'redact',
    'src/processing/redact.ts',
    'RedactOptions',
    'See [what an error may say](../handlers.md#what-an-error-may-say).',
  ],
  [
    'Options of every source',
    'src/provider.ts',
    'SourceOptions',
    'Besides the secrets of the sender, which [providers](../providers.md) lists.',
  ],
  [
    'Options of a source whose list can be read',
    'src/verification/list/sender-list.ts',
    'ListOptions',
    'For [reconcile](../reconcile.md). [Providers](../providers.md#senders-whose-list-can-be-read) has the senders, and what else each of them needs.',
  ],
  [
    'reconcile of a source',
    'src/provider.ts',
    'ReconcileTimes',
    'The schedule of [reconcile](../reconcile.md).',
  ],
  [
    'inbox.reconcile(source, options)',
    'src/reconcile/options.ts',
    'ReconcileOptions',
    'See [reconcile](../reconcile.md).',
  ],
  [
    'The id of an unknown sender',
    'src/providers/generic/identity.ts',
    'IdentityOptions',
    'Of `hmac`, `token`, `basic`, `jwt`, `mtls` and `unverified`. See [any sender](../unknown-senders.md).',
  ],
  [
    'hmac(options)',
    'src/providers/generic/hmac.ts',
    'HmacOptions',
    'For a sender that signs with a shared secret.',
  ],
  [
    'token(options)',
    'src/providers/generic/credentials.ts',
    'TokenOptions',
    'For a sender with a static token.',
  ],
  [
    'basic(options)',
    'src/providers/generic/credentials.ts',
    'BasicOptions',
    'For a sender with HTTP Basic authentication.',
  ],
  ['jwt(options)', 'src/providers/generic/jwt.ts', 'JwtOptions', 'For a sender with a signed token.'],
  [
    'mtls(options)',
    'src/providers/generic/credentials.ts',
    'MtlsOptions',
    'For a sender with a client certificate that a proxy verifies.',
  ],
  ['sqlite(path, options)', 'src/stores/sqlite/sqlite.ts', 'SqliteOptions', 'From `hookonce/sqlite`.'],
  [
    'postgres(options)',
    'src/stores/postgres/connection/pools.ts',
    'PostgresOptions',
    'From `hookonce/postgres`.',
  ],
  [
    'createServer(inbox, options)',
    'src/server/options.ts',
    'ServerOptions',
    'From `hookonce/server`; the key `server` of the configuration.',
  ],
  ['admin tokens', 'src/server/admin/options.ts', 'Token', 'In `tokens` of `admin`.'],
  ['admin', 'src/server/admin/options.ts', 'AdminOptions', 'The key `server.admin` of the configuration.'],
  [
    'destinations',
    'src/forward/destination.ts',
    'Destination',
    'The key `destinations` of the configuration, or `addDestinations` of `hookonce/forward`: [forwarding](../forwarding.md).',
  ],
  [
    'startAlerts(inbox, alerts)',
    'src/telemetry/alert-rules.ts',
    'Alerts',
    'From `hookonce/telemetry`; the key `alerts` of the configuration.',
  ],
  ['The event of a handler', 'src/processing/handler.ts', 'HandledEvent', 'The first argument of a handler.'],
  ['The context of a handler', 'src/processing/handler.ts', 'HandlerContext', 'The second argument, `ctx`.'],
  [
    'The context of a batch',
    'src/processing/handler.ts',
    'BatchContext',
    'The second argument of a handler of `onBatch`; it also has `tx`, `signal` and `log`.',
  ],
  [
    'Options of a handler',
    'src/processing/handler.ts',
    'HandlerOptions',
    'The last argument of `on` and `onBatch`.',
  ],
  [
    'Options of reply',
    'src/processing/reply.ts',
    'ReplyOptions',
    'See [reply to the sender](../handlers.md#reply-to-the-sender).',
  ],
  ['Options of ctx.once', 'src/processing/handler.ts', 'OnceOptions', ''],
  ['The inbox', 'src/inbox/types.ts', 'Inbox', 'What `createInbox` returns.'],
  ['The answer to a delivery', 'src/intake/answer.ts', 'Receipt', 'What `inbox.receive` returns.'],
  [
    'An event of the log',
    'src/model.ts',
    'EventRecord',
    'What `inbox.events.get` and `list` return. It also has `source` and `id`.',
  ],
  ['A filter', 'src/model.ts', 'EventFilter', 'For `inbox.events.list`, `retry`, `replay` and `ignore`.'],
  [
    'Options of an action',
    'src/processing/actions.ts',
    'ActionOptions',
    'For `retry`, `replay` and `ignore`.',
  ],
  [
    'Options of an action on a filter',
    'src/processing/actions.ts',
    'BulkOptions',
    'Besides the options of an action.',
  ],
]

export function optionsPage() {
  const sections = interfaces.map(([heading, file, name, what]) => {
    const members = membersOf(file, name)
    const silent = members.filter(({ name: member, text }) => member.endsWith('?') && text === '')
    if (silent.length > 0)
      throw new Error(`${file}: ${silent.map((member) => member.name).join(', ')} of ${name} need a comment`)
    const rows = members.map(
      ({ name, type, text }) => `| \`${name}\` | ${type === '' ? '' : `\`${type}\``} | ${text} |`,
    )
    return `## ${heading}\n\n${what === '' ? '' : `${what}\n\n`}| name | type | |\n|---|---|---|\n${rows.join('\n')}\n`
  })
  const text = readFileSync(new URL('options.md', import.meta.url), 'utf8')
  return text
    .replace('options\n', 'options\n\n<!-- Generated: npm run docs:reference -->\n')
    .replace('{{options}}', () => sections.join('\n'))
    .trimEnd()
    .concat('\n')
}

/** @param {string} file @param {string} name @returns {{ name: string, type: string, text: string }[]} */
function membersOf(file, name) {
  const source = ts.createSourceFile(
    file,
    readFileSync(join(root, file), 'utf8'),
    ts.ScriptTarget.Latest,
    true,
  )
  const found = source.statements.find(
    (node) => (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) && node.name.text === name,
  )
  if (!found) throw new Error(`${file} has no ${name}: mend scripts/reference/types.mjs`)
  const members = ts.isInterfaceDeclaration(found)
    ? found.members
    : ts.isTypeAliasDeclaration(found) && ts.isTypeLiteralNode(found.type)
      ? found.type.members
      : []
  return [...members].flatMap((member) => {
    if (!member.name) return []
    const optional = 'questionToken' in member && member.questionToken ? '?' : ''
    const type = ts.isPropertySignature(member)
      ? (member.type?.getText() ?? '')
      : ts.isMethodSignature(member)
        ? `(${member.parameters.map((parameter) => parameter.getText()).join(', ')}) => ${member.type?.getText() ?? 'void'}`
        : ''
    return [
      {
        name: `${member.name.getText()}${optional}`,
        type: oneLine(withoutComments(type)),
        text: oneLine(commentOf(member)),
      },
    ]
  })
}

/** @param {ts.Node} node */
function commentOf(node) {
  return ts
    .getJSDocCommentsAndTags(node)
    .filter(ts.isJSDoc)
    .map(({ comment }) => (typeof comment === 'string' ? comment : ts.getTextOfJSDocComment(comment)))
    .join(' ')
}

/** @param {string} text */
function withoutComments(text) {
  return text.replace(/\/\*\*[\s\S]*?\*\//g, '')
}

/** For a cell of a table. @param {string} text */
function oneLine(text) {
  return text.replace(/\s+/g, ' ').replaceAll('|', '\\|').replaceAll('readonly ', '').trim()
}
