/** The package as users install it: packed by npm, unpacked into the `node_modules` of a project of its own. */
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import pkg from '../../package.json' with { type: 'json' }

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))

/** Names of the packages that are installed with hookonce. */
export const dependencies = Object.keys(pkg.dependencies)

export interface Packed {
  readonly tarball: string
  /** A project that has hookonce, what it depends on, and the optional packages named here. */
  project(files: Readonly<Record<string, string>>, optional?: readonly string[]): Promise<string>
  /** A folder without hookonce, with these packages: where a bundle is carried to. */
  elsewhere(packages?: readonly string[]): Promise<string>
  remove(): Promise<void>
}

export async function packPackage(): Promise<Packed> {
  const home = await mkdtemp(join(tmpdir(), 'hookonce-packed-'))
  await run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', home], { cwd: root })
  const tarball = join(home, (await readdir(home)).find((name) => name.endsWith('.tgz'))!)
  await run('tar', ['xzf', tarball, '-C', home])

  async function folder(packages: readonly string[]): Promise<string> {
    const path = await mkdtemp(join(home, 'project-'))
    for (const name of packages) await link(name, path)
    return path
  }

  return {
    tarball,
    elsewhere: (packages = []) => folder(packages),
    async project(files, optional = []) {
      const path = await folder([...dependencies, ...optional])
      await mkdir(join(path, 'node_modules'), { recursive: true })
      // A copy and not a link: a linked package would find the development dependencies of the repository.
      await cp(join(home, 'package'), join(path, 'node_modules/hookonce'), { recursive: true })
      for (const [name, text] of Object.entries(files)) {
        await mkdir(dirname(join(path, name)), { recursive: true })
        await writeFile(join(path, name), text)
      }
      return path
    },
    remove: () => rm(home, { recursive: true, force: true }),
  }
}

async function link(name: string, into: string): Promise<void> {
  const place = join(into, 'node_modules', name)
  await mkdir(dirname(place), { recursive: true })
  await symlink(join(root, 'node_modules', name), place)
}
