import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { type Command, InvalidArgumentError } from 'commander'
import { HookonceError } from '../../errors.js'
import { packageVersion } from '../../package-version.js'
import { addCommand, interruptible } from '../command.js'
import type { EventLog } from '../log/event-log.js'
import { openLog } from '../log/open-log.js'
import { logOptions } from '../log/options.js'
import { type Allowance, allowances, type Tool, toolsFor } from '../mcp/tools.js'
import { type ToolResult, untrusted, WARNING } from '../mcp/untrusted.js'
import type { Declaration, OptionsOf } from '../options.js'
import type { Output } from '../output.js'

const allow: Declaration<readonly Allowance[]> = {
  argument: '<what>',
  about: 'actions: retry and replay events; payloads: show their values; may be repeated (default: neither)',
  parse(text, before = []) {
    const allowed = allowances.find((name) => name === text)
    if (allowed === undefined) throw new InvalidArgumentError(`It must be ${allowances.join(' or ')}.`)
    return [...before, allowed]
  },
}
const options = { allow, ...logOptions }

export function add(program: Command): void {
  addCommand(program, 'mcp', {
    description:
      'Serves the event log to an assistant, by the Model Context Protocol on standard input and output: find and explain events, and dead letters by cause. It can only read, and the values of payloads are masked. Needs the package @modelcontextprotocol/sdk.',
    examples: [
      'hookonce mcp',
      'hookonce mcp --server https://hooks.example.com',
      'hookonce mcp --allow actions --allow payloads',
    ],
    options,
    run: ({ output, options }) => mcp(output, options),
  })
}

async function mcp(
  output: Output,
  { allow: allowed = [], ...where }: OptionsOf<typeof options>,
): Promise<void> {
  const { McpServer, StdioServerTransport } = await loadSdk()
  await using log = await openLog(where)
  const server = new McpServer(
    { name: 'hookonce', version: packageVersion() ?? '0.0.0' },
    {
      instructions: `The webhooks that an application has received, and what its handlers did. ${WARNING}`,
    },
  )
  for (const { name, description, input, isReadOnly, run } of toolsFor(new Set(allowed)))
    server.registerTool(
      name,
      { description, inputSchema: input, annotations: { readOnlyHint: isReadOnly, openWorldHint: false } },
      (values) => answer(run, log, values),
    )
  const { signal } = interruptible()
  const ended = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve())
    process.stdin.once('close', resolve).once('end', resolve)
  })
  await server.connect(new StdioServerTransport())
  output.say(`serving ${log.name} to an assistant; stop with Ctrl-C`)
  await ended
  await server.close()
}

/** A message may quote an id. */
async function answer(
  run: Tool['run'],
  log: EventLog,
  values: Readonly<Record<string, unknown>>,
): Promise<ToolResult> {
  try {
    return await run(log, values)
  } catch (error) {
    return { ...untrusted('This was not possible.', (error as Error).message), isError: true }
  }
}

/** The parts of the SDK that are used here: it is an optional package. */
interface Sdk {
  readonly McpServer: new (
    info: { readonly name: string; readonly version: string },
    options: { readonly instructions: string },
  ) => {
    registerTool(
      name: string,
      about: object,
      call: (values: Readonly<Record<string, unknown>>) => Promise<ToolResult>,
    ): unknown
    connect(transport: object): Promise<void>
    close(): Promise<void>
  }
  readonly StdioServerTransport: new () => object
}

const SDK = '@modelcontextprotocol/sdk'

/** `npx hookonce` runs outside of the project that has the SDK. */
async function loadSdk(): Promise<Sdk> {
  const load = async (part: string) => {
    for (const from of [import.meta.url, pathToFileURL(`${process.cwd()}/`)]) {
      try {
        return await import(pathToFileURL(createRequire(from).resolve(`${SDK}/server/${part}.js`)).href)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error
      }
    }
    throw new HookonceError('DRIVER_MISSING', { driver: SDK })
  }
  return { ...(await load('mcp')), ...(await load('stdio')) }
}
