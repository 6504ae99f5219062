/** Another version of Node, from the npm package `node`, installed into a temporary folder. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface OtherNode {
  readonly path: string
  remove(): void
}

export async function installNode(version: string): Promise<OtherNode> {
  const folder = mkdtempSync(join(tmpdir(), 'hookonce-node-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  const wanted = version === 'newest' ? 'latest' : version
  try {
    // The package copies the binary of the platform in its install script.
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--foreground-scripts', `node@${wanted}`], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const path = join(folder, 'node_modules/node/bin/node')
    console.log(`--node ${version}: ${execFileSync(path, ['--version'], { encoding: 'utf8' }).trim()}`)
    return { path, remove }
  } catch (error) {
    remove()
    throw error
  }
}
