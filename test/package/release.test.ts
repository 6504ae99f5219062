/** The release script, in a copy of the repository. Nothing is published: every case with `--publish` must be refused. */
import { execFile } from 'node:child_process'
import { appendFile, cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))
const yaml = createRequire(import.meta.url)('js-yaml') as { load(text: string): unknown }
let copy: string

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'hookonce-release-test-'))
  const folders = ['scripts', 'docs', 'deploy', 'dist', 'examples']
  const files = [
    'package.json',
    'package-lock.json',
    'README.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    'LICENSE',
  ]
  const own = (path: string) => !path.includes('node_modules') && !path.endsWith('.db')
  for (const name of [...folders, ...files])
    await cp(join(root, name), join(copy, name), { recursive: true, filter: own })
  await writeFile(join(copy, 'CHANGELOG.md'), '# Changelog\n\n## [Unreleased]\n\n- A change.\n')
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'))
  await writeFile(join(copy, '.gitignore'), 'node_modules\ndist\n')
  await git('init', '--quiet')
  await commit()
})
afterAll(() => rm(copy, { recursive: true, force: true }))

function git(...args: string[]) {
  const person = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', '-c', 'commit.gpgsign=false']
  return run('git', [...person, ...args], { cwd: copy })
}

async function commit() {
  await git('add', '--all')
  await git('commit', '--quiet', '--allow-empty', '--message', 'change')
}

async function release(...args: string[]): Promise<{ code: number; printed: string }> {
  const { ACTIONS_ID_TOKEN_REQUEST_URL: _, SIGSTORE_ID_TOKEN: __, ...env } = process.env
  const done = run(process.execPath, ['scripts/release.mjs', ...args], { cwd: copy, env, maxBuffer: 1 << 26 })
  const { code, stdout, stderr } = await done.then(
    (result) => ({ code: 0, ...result }),
    (error: { code: number; stdout: string; stderr: string }) => error,
  )
  return { code, printed: stdout + stderr }
}

async function changePackage(change: (pkg: Record<string, unknown>) => void) {
  const path = join(copy, 'package.json')
  const pkg = JSON.parse(await readFile(path, 'utf8'))
  change(pkg)
  await writeFile(path, `${JSON.stringify(pkg, null, 2)}\n`)
  await commit()
}

test('a working tree with changes is refused', async () => {
  await appendFile(join(copy, 'README.md'), '\n')
  const { code, printed } = await release('--built')
  expect(code).toBe(1)
  expect(printed).toContain('The working tree has changes that are not committed')
  await git('checkout', '--', 'README.md')
})

test('a version without a section in the changelog is refused, with the command that makes it', async () => {
  await changePackage((pkg) => {
    pkg.version = '9.8.7'
  })
  expect((await release('--built')).printed).toContain('package-lock.json has version')
  await git('revert', '--no-edit', 'HEAD')
  const { version } = JSON.parse(await readFile(join(copy, 'package.json'), 'utf8'))
  const { code, printed } = await release('--built')
  expect(code).toBe(1)
  expect(printed).toContain(`npm run release -- --prepare ${version}`)
})

test('--prepare moves the entries below [Unreleased] and sets both versions', async () => {
  const before = await readFile(join(copy, 'CHANGELOG.md'), 'utf8')
  const { code, printed } = await release('--prepare', '9.8.7')
  expect(printed).toContain('Prepared 9.8.7')
  expect(code).toBe(0)
  const after = await readFile(join(copy, 'CHANGELOG.md'), 'utf8')
  const today = /## \[9\.8\.7\] - (\d{4}-\d{2}-\d{2})\n/.exec(after)!
  expect(after).toContain(`## [Unreleased]\n\n${today[0]}`)
  expect(after.replace(`\n${today[0]}`, '')).toBe(before)
  for (const name of ['package.json', 'package-lock.json'])
    expect(JSON.parse(await readFile(join(copy, name), 'utf8')).version).toBe('9.8.7')
  await commit()
})

test('the dry run prints what would be published, and that publishing needs a repository', async () => {
  // publint and attw are part of `npm run check`, which `--tested` says has passed.
  const without = await release('--built', '--tested')
  expect(without.printed).toContain('  dist/index.js\n')
  expect(without.printed).toContain('  LICENSE\n')
  expect(without.printed).not.toMatch(/^ {2}(src|test|scripts|examples)\//m)
  expect(without.printed).toContain('Would run: npm publish --provenance --access public (hookonce@9.8.7)')
  expect(without.printed).toContain('package.json has no `repository.url`')
  expect(without.code).toBe(1)
})

test('--publish is refused without a repository, and with one outside of a CI job', async () => {
  const nowhere = await release('--publish', '--built', '--tested')
  expect(nowhere.printed).toContain('package.json has no `repository.url`')
  expect(nowhere.code).toBe(1)
  expect((await release('--repository', 'hookonce')).code).toBe(1)
  await release('--repository', 'https://git.example/owner/hookonce.git')
  expect(JSON.parse(await readFile(join(copy, 'package.json'), 'utf8'))).toMatchObject({
    homepage: 'https://git.example/owner/hookonce#readme',
    repository: { url: 'git+https://git.example/owner/hookonce.git' },
    bugs: { url: 'https://git.example/owner/hookonce/issues' },
  })
  await commit()
  const here = await release('--publish', '--built', '--tested')
  expect(here.printed).toContain('There is no identity token')
  expect(here.printed).not.toContain('repository.url')
  expect(here.code).toBe(1)
})

test('entries that were added after the release are noticed', async () => {
  const path = join(copy, 'CHANGELOG.md')
  const text = await readFile(path, 'utf8')
  await writeFile(path, text.replace('## [Unreleased]\n', '## [Unreleased]\n\n- A later change.\n'))
  await commit()
  const { code, printed } = await release('--built')
  expect(code).toBe(1)
  expect(printed).toContain('entries below [Unreleased] that version 9.8.7 would not have')
})

test('every action of a workflow is named by its commit, because a tag can be moved', async () => {
  const folder = join(root, '.github/workflows')
  for (const file of await readdir(folder)) {
    const used = (await readFile(join(folder, file), 'utf8')).match(/uses: .*/g) ?? []
    expect(used.length).toBeGreaterThan(0)
    for (const line of used) expect(line).toMatch(/^uses: [\w.-]+\/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
  }
})

test('the workflow asks for an identity token, tests, and publishes what it has tested', async () => {
  const workflow = yaml.load(await readFile(join(root, '.github/workflows/release.yml'), 'utf8')) as {
    permissions: Record<string, string>
    jobs: { publish: { steps: { run?: string }[] } }
  }
  expect(workflow.permissions).toEqual({ contents: 'read', 'id-token': 'write' })
  const commands = workflow.jobs.publish.steps.flatMap((step) => step.run ?? [])
  expect(commands.slice(-3)).toEqual([
    '.ci/run',
    'npm run test:nodes && npm run test:runtimes',
    'npm run release -- --publish --tested',
  ])
})
