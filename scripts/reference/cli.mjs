/**
 * docs/reference/cli.md: the text of cli.md beside this file, with every command's arguments and options from the program.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { root } from '../checks/run.mjs'

/** @typedef {import('commander').Command} Command */
/** @typedef {{ path: string, command: Command }} Leaf */

/** An option that more commands than this have in the same words is described once. */
const fewCommands = 3

export async function cliPage() {
  const { createProgram } = await import(join(root, 'dist/cli/program.js'))
  const commands = leaves(await createProgram())
  const shared = sharedRows(commands)
  const sections = new Map(commands.map((leaf) => [leaf.path, section(leaf, shared)]))
  const text = await readFile(new URL('cli.md', import.meta.url), 'utf8')
  const page = text.replace(/\{\{([a-z ]+)\}\}/g, (_, name) => {
    if (name === 'shared') return `| option | |\n|---|---|\n${[...shared].join('\n')}`
    const found = sections.get(name)
    if (found === undefined)
      throw new Error(`scripts/reference/cli.md names a command "${name}" that does not exist`)
    sections.delete(name)
    return found
  })
  if (sections.size > 0)
    throw new Error(`scripts/reference/cli.md has no place for: ${[...sections.keys()].join(', ')}`)
  return page.replace('# Command line\n', '# Command line\n\n<!-- Generated: npm run docs:reference -->\n')
}

/** @param {Command} command @param {string[]} path @returns {Leaf[]} */
function leaves(command, path = []) {
  const commands = command.commands.filter((each) => each.name() !== 'help')
  if (commands.length === 0) return [{ path: path.join(' '), command }]
  return commands.flatMap((each) => leaves(each, [...path, each.name()]))
}

/** @param {Leaf[]} commands @returns {Set<string>} */
function sharedRows(commands) {
  const all = commands.flatMap(({ command }) => rowsOf(command))
  const count = (/** @type {string} */ row) => all.filter((each) => each === row).length
  return new Set(all.filter((row) => count(row) > fewCommands))
}

/** @param {Command} command */
function rowsOf(command) {
  return command.options
    .filter((option) => !option.hidden)
    .map(
      (option) =>
        `| \`${cell(option.flags)}\` | ${prose(option.description)}${preset(option.defaultValue)} |`,
    )
}

/** @param {Leaf} leaf @param {Set<string>} shared */
function section({ path, command }, shared) {
  const usage = `hookonce ${path} ${command.registeredArguments.map(argument).join(' ')}`.trim()
  const rows = rowsOf(command)
  const table = rows.filter((row) => !shared.has(row))
  const common = command.options
    .filter((option, i) => shared.has(rows[i] ?? '') && !['--json', '--env-file'].includes(option.long ?? ''))
    .map((option) => `\`${option.long}\``)
  return [
    `### ${path}\n\n\`${usage}\`\n\n${prose(command.description())}`,
    ...(table.length === 0 ? [] : [`| option | |\n|---|---|\n${table.join('\n')}`]),
    ...(common.length === 0 ? [] : [`Also ${common.join(', ')}.`]),
  ].join('\n\n')
}

/** @param {import('commander').Argument} argument */
function argument(argument) {
  const name = argument.variadic ? `${argument.name()}...` : argument.name()
  return argument.required ? `<${name}>` : `[${name}]`
}

/** @param {unknown} value */
function preset(value) {
  return value === undefined || value === false || (Array.isArray(value) && value.length === 0)
    ? ''
    : `. Default ${value}`
}

/** @param {string} text */
function cell(text) {
  return text.replace(/\s+/g, ' ').replaceAll('|', '\\|').trim()
}

/** Outside of code, `<` begins HTML. @param {string} text */
function prose(text) {
  return cell(text).replaceAll('<', '&lt;')
}
