import { type Command, Option } from 'commander'
import { action, addCommand } from '../command.js'
import type { InitOptions } from '../init/init.js'
import { frameworks } from '../init/project.js'

export function addInit(program: Command): void {
  addCommand(program, 'init', {
    summary: 'add hookonce to the project in this folder',
    description:
      'Finds the framework, the language, the ORM and the database of the project in this folder, shows the files that receive the webhooks of one sender, and writes them after a yes. A file that exists is not changed.',
    examples: ['hookonce init', 'hookonce init --source github --yes', 'hookonce init --dry-run --json'],
  })
    .option('--source <provider>', 'the sender (default: asks on a terminal, else stripe)')
    .addOption(
      new Option('--framework <name>', 'the framework (default: the one in package.json)').choices([
        ...frameworks,
      ]),
    )
    .option('--yes', 'write the files without asking')
    .option('--dry-run', 'show the files, write nothing')
    .action(
      action<InitOptions>(async ({ output, options }) =>
        (await import('../init/init.js')).init(output, options),
      ),
    )
}
