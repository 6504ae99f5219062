import type { Command } from 'commander'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createProgram } from '#dist/cli/program.js'
import { type Folder, freshFolder } from '../support/cli.js'

const program = await createProgram()
let folder: Folder
beforeAll(() => {
  folder = freshFolder()
})
afterAll(() => folder.remove())

function leaves(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leaves)
}

function helpOf(command: Command): string {
  let text = ''
  command.configureOutput({ writeOut: (part) => (text += part) })
  command.outputHelp()
  return text
}

describe('every command', () => {
  for (const command of leaves(program)) {
    test(`${command.name()} has an example, --json and a line in the list`, () => {
      const help = helpOf(command)
      expect(help).toMatch(/Examples\n {2}\S/)
      expect(help).toContain('--json')
      expect(command.summary()).not.toBe('')
    })
  }
})

test('a mistyped command is answered with the one that was meant, and exit code 2', async () => {
  const { code, stderr, stdout } = await folder.run(['providrs'])
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain('Did you mean providers?')
})

test('a mistyped option is answered with the one that was meant, and exit code 2', async () => {
  const { code, stderr } = await folder.run(['dev', '--prot', '1'])
  expect(code).toBe(2)
  expect(stderr).toContain('Did you mean --port?')
  expect(stderr).toContain('See hookonce dev --help.')
})

test('no command at all shows the help and is a usage error', async () => {
  const { code, stdout, stderr } = await folder.run([])
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain('Commands:')
})

test('--version prints the version, --help the commands', async () => {
  expect(await folder.run(['--version'])).toMatchObject({
    code: 0,
    stderr: '',
    stdout: expect.stringMatching(/^\d+\.\d+\.\d+\S*\n$/),
  })
  expect(await folder.run(['--help'])).toMatchObject({
    code: 0,
    stderr: '',
    stdout: expect.stringContaining('dev'),
  })
})

test('a value that cannot be read says what it should be', async () => {
  const { code, stderr } = await folder.run(['dev', '--port', 'web'])
  expect(code).toBe(2)
  expect(stderr).toContain('It must be a whole number from 0 to 65535.')
})

test('output has no colours when nobody is looking', async () => {
  const { stdout } = await folder.run(['providers', 'stripe'])
  expect(stdout).toContain('/webhooks/stripe')
  expect(stdout).not.toContain('\u001b')
})
