/** The package as users install it: packed by npm, unpacked into the `node_modules` of a project of its own. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { inject } from 'vitest'
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

/** The tarball and its content, made by the first file of a run that needs them. */
async function packOnce(): Promise<{ tarball: string; content: string }> {
  const place = inject('packedFolder')
  if (!existsSync(place)) {
    const made = await mkdtemp(join(tmpdir(), 'hookonce-packing-'))
    await run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', made], { cwd: root })
    const name = (await readdir(made)).find((file) => file.endsWith('.tgz'))!
    await run('tar', ['xzf', join(made, name), '-C', made])
    // Another file may have been quicker: its folder is as good.
    await rename(made, place).catch(() => rm(made, { recursive: true }))
  }
  const name = (await readdir(place)).find((file) => file.endsWith('.tgz'))!
  return { tarball: join(place, name), content: join(place, 'package') }
}

export async function packPackage(): Promise<Packed> {
  const { tarball, content } = await packOnce()
  const home = await mkdtemp(join(tmpdir(), 'hookonce-projects-'))

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
      await cp(content, join(path, 'node_modules/hookonce'), { recursive: true })
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
