/** docs/reference/cli.md: every command with its arguments and options, from the program itself. */
import { join } from 'node:path'
import { root } from '../checks/run.mjs'

/** @typedef {import('commander').Command} Command */

export async function cliPage() {
  const { createProgram } = await import(join(root, 'dist/cli/program.js'))
  const sections = leaves(await createProgram()).map(({ path, command }) => section(path, command))
  return `# Commands and options

Generated from the program; \`hookonce <command> --help\` prints the same with examples. How to use the commands:
[the command line](../command-line.md).

${sections.join('\n')}`
}

/** @param {Command} command @param {string[]} path @returns {{ path: string, command: Command }[]} */
function leaves(command, path = ['hookonce']) {
  const commands = command.commands.filter((each) => each.name() !== 'help')
  if (commands.length === 0) return [{ path: path.join(' '), command }]
  return commands.flatMap((each) => leaves(each, [...path, each.name()]))
}

/** @param {string} path @param {Command} command */
function section(path, command) {
  const usage = `${path} ${command.registeredArguments.map(argument).join(' ')}`.trim()
  const rows = command.options
    .filter((option) => !option.hidden)
    .map(
      (option) =>
        `| \`${cell(option.flags)}\` | ${prose(option.description)}${preset(option.defaultValue)} |`,
    )
  const table = rows.length === 0 ? '' : `\n| option | |\n|---|---|\n${rows.join('\n')}\n`
  return `## ${path.replace('hookonce ', '')}\n\n\`${usage}\`\n\n${prose(command.description())}\n${table}`
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
