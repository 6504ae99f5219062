import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import type { Command } from 'commander'
import { addCommand } from '../command.js'
import { UsageError } from '../failure.js'
import type { File } from '../init/code.js'
import { filesFor } from '../init/files.js'
import { frameworks, type Project, readProject } from '../init/project.js'
import { type Sender, senderOf } from '../init/sender.js'
import { nextSteps } from '../init/steps.js'
import { choice, flag, type OptionsOf, text } from '../options.js'
import type { Output } from '../output.js'
import { factoryOf } from '../sources.js'
import type { Paint } from '../terminal-text.js'

const options = {
  source: text('<provider>', 'the sender (default: asks on a terminal, else stripe)'),
  framework: choice('<name>', 'the framework (default: the one in package.json)', frameworks),
  yes: flag('write the files without asking'),
  dryRun: flag('show the files, write nothing'),
}

export function add(program: Command): void {
  addCommand(program, 'init', {
    description:
      'Finds the framework, the language, the ORM and the database of the project in this folder, shows the files that receive the webhooks of one sender, and writes them after a yes. A file that exists is not changed.',
    examples: ['hookonce init', 'hookonce init --source github --yes', 'hookonce init --dry-run --json'],
    options,
    run: ({ output, options }) => init(output, options),
  })
}

interface PlannedFile extends File {
  /** `add`: the file exists and lacks `text`. `kept`: it exists and has it. */
  readonly action: 'write' | 'add' | 'kept'
}

async function init(output: Output, given: OptionsOf<typeof options>): Promise<number> {
  const { dryRun = false, yes = false } = given
  const asks = process.stdin.isTTY === true && process.stderr.isTTY === true && !output.json && !yes
  if (!asks && !yes && !dryRun)
    throw new UsageError('init writes files. See them with --dry-run, then give --yes.')
  const project = readProject(process.cwd(), given.framework)
  const sender = senderOf(factoryOf(given.source ?? (asks ? await askSource() : 'stripe')))
  const files = await Promise.all(filesFor(project, sender).map((file) => plan(project.folder, file)))
  if (!output.json) output.say((paint) => planText(project, sender, files, paint))
  const agreed = !dryRun && (yes || (asks && (await askYes())))
  if (agreed) for (const file of files) if (file.action === 'write') await write(project.folder, file)
  const steps = nextSteps(project, sender)
  output.result(
    {
      project: factsOf(project),
      source: sender.key,
      files: files.map(({ path, action, text }) => ({ path, action, text })),
      written: agreed,
      next: steps,
    },
    () =>
      agreed ? stepsText(files, steps) : dryRun ? 'Nothing was written: --dry-run.' : 'Nothing was written.',
  )
  return agreed || dryRun ? 0 : 1
}

async function plan(folder: string, file: File): Promise<PlannedFile> {
  const path = join(folder, file.path)
  if (!existsSync(path)) return { ...file, action: 'write' }
  const present = await readFile(path, 'utf8').catch(() => '')
  if (file.path !== '.env.example') return { ...file, action: present === file.text ? 'kept' : 'add' }
  const missing = file.text.split('\n').filter((line) => line !== '' && !hasVariable(present, line))
  return missing.length === 0
    ? { ...file, action: 'kept' }
    : { path: file.path, text: `${missing.join('\n')}\n`, action: 'add' }
}

function hasVariable(text: string, line: string): boolean {
  return text.split('\n').some((each) => each.replace(/^[#\s]*(export )?/, '').startsWith(line))
}

/** The file may have been created since it was planned. An existing file is never overwritten. */
async function write(folder: string, { path, text }: File): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true })
  await writeFile(join(folder, path), text, { flag: 'wx' })
}

function factsOf({ framework, language, modules, orm, database, testRunner, packageManager }: Project) {
  return { framework, language, modules, orm, database, testRunner, packageManager }
}

function planText(project: Project, sender: Sender, files: readonly PlannedFile[], paint: Paint): string {
  const facts = Object.values(factsOf(project)).filter((fact) => fact !== null)
  const shown = files.map(({ path, text, action }) => {
    if (action === 'kept') return `${paint('dim', 'unchanged')} ${path}`
    const title = action === 'write' ? paint('green', 'new') : `${paint('yellow', 'exists')}, not changed:`
    return `${title} ${paint('bold', path)}\n${text.replaceAll(/^(?=.)/gm, '    ')}`
  })
  return `Found: ${facts.join(', ')}. Sender: ${sender.name}.\n\n${shown.join('\n')}`
}

function stepsText(files: readonly PlannedFile[], steps: readonly string[]): string {
  const additions = files
    .filter(({ action }) => action === 'add')
    .map(({ path, text }) => `${path} exists and was not changed. Add what it lacks:\n${text.trimEnd()}`)
  const written = files.filter(({ action }) => action === 'write').map(({ path }) => `wrote ${path}`)
  const numbered = [...additions, ...steps].map(
    (step, index) => `${index + 1}. ${step.replaceAll('\n', '\n   ')}`,
  )
  return [...written, '', 'Next:', ...numbered].join('\n')
}

async function ask(question: string): Promise<string> {
  const reader = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await reader.question(question)
  reader.close()
  return answer.trim()
}

const askSource = async () => (await ask('Which sender (see hookonce providers)? [stripe] ')) || 'stripe'

const askYes = async () => /^y(es)?$/i.test(await ask('Write these files? [y/N] '))
