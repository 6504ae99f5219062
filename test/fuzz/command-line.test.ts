/** Arguments of any kind: exit code 2 with a sentence when they are wrong, and never a stack trace. */
import type { Command, Option } from 'commander'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { endingOf } from '#dist/cli/failure.js'
import { createProgram } from '#dist/cli/program.js'
import { freshFolder } from '../support/cli.js'
import { fuzzRuns } from './runs.js'

const folder = freshFolder()
afterAll(() => folder.remove())

interface Leaf {
  readonly path: readonly string[]
  readonly options: readonly Option[]
}

function leaves(command: Command, path: readonly string[] = []): Leaf[] {
  if (command.commands.length === 0) return [{ path, options: command.options }]
  return command.commands.flatMap((one) => leaves(one, [...path, one.name()]))
}
const all = leaves(await createProgram())

const word = fc.oneof(
  fc.constantFrom(
    '',
    '-',
    '--',
    '-1',
    '0',
    '1e3',
    '99999999999',
    '30d',
    'yesterday',
    '../x',
    'sqlite:',
    'postgres://',
    'http://[',
  ),
  fc.constantFrom('--jso', '--limit', '--source=', '-x', '--no-color', '--help=1', 'NaN', 'évt', '\u0007'),
  fc.string({ maxLength: 8 }).filter((text) => !text.includes('\0')),
)
const args = fc.constantFrom(...all).chain(({ path, options }) => {
  const option =
    options.length === 0
      ? fc.constant<string[]>([])
      : fc
          .tuple(fc.constantFrom(...options), word)
          .map(([{ long, required, optional }, value]) =>
            required || optional ? [long ?? '', value] : [long ?? ''],
          )
  const rest = fc.array(
    fc.oneof(
      option,
      word.map((one) => [one]),
    ),
    { maxLength: 4 },
  )
  return rest.map((parts) => [...path, ...parts.flat()])
})

describe('arguments', () => {
  test('are accepted, or refused with one sentence and exit code 2', async () => {
    const written = process.stdout.write
    await fc.assert(
      fc.asyncProperty(args, async (list) => {
        // Only the reading of arguments: the work of a command is replaced.
        let said = ''
        const program = await createProgram()
        const quiet = (command: Command): void => {
          command.configureOutput({ writeOut: () => {}, writeErr: (text) => (said += text) })
          if (command.commands.length === 0) command.action(() => {})
          for (const one of command.commands) quiet(one)
        }
        quiet(program)
        try {
          await program.parseAsync(['node', 'hookonce', ...list])
        } catch (error) {
          const { exitCode, message } = endingOf(error)
          if (exitCode === 0) return
          expect([list, exitCode]).toEqual([list, 2])
          expect(`${said}${message}`.trim().length).toBeGreaterThan(10)
          expect(`${said}${message}`).not.toMatch(/^\s+at .*:\d+:\d+|TypeError|undefined/m)
        }
      }),
      { numRuns: fuzzRuns(200, 10) },
    )
    expect(process.stdout.write).toBe(written)
  })

  test('of the real binary end with 0, 1 or 2 and without a stack trace', async () => {
    /** These run until they are stopped, ask somebody, or call other hosts when their arguments are right. */
    const endless = ['dev', 'serve', 'worker', 'listen', 'tail', 'init', 'send', 'check']
    await fc.assert(
      fc.asyncProperty(fc.array(args, { minLength: 4, maxLength: 4 }), async (lists) => {
        const finite = lists.filter((list) => !list.some((one) => endless.includes(one)))
        const ends = await Promise.all(finite.map((list) => folder.run(list)))
        ends.forEach(({ code, stderr, stdout }, i) => {
          const what = JSON.stringify([finite[i], code, stderr])
          // Node 20 reads --env-file itself, wherever it stands, and ends with 9 when there is no such file.
          const ofNode = finite[i]!.includes('--env-file') && code === 9
          expect(ofNode ? 2 : code, what).toBeOneOf([0, 1, 2])
          expect(stderr, what).not.toMatch(/^\s+at .*:\d+:\d+/m)
          if (code !== 0) expect(`${stderr}${stdout}`.trim(), what).not.toBe('')
        })
      }),
      { numRuns: fuzzRuns(2, 5_000) },
    )
  })
})
