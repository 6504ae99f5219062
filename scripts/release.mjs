/**
 * Releases the package. Nothing is published without `--publish`.
 *
 *     npm run release -- --prepare 0.2.0    sets the version and moves [Unreleased] of the changelog; then commit
 *     npm run release -- --repository URL   sets repository, homepage and bugs in package.json; then commit
 *     npm run release                       dry run: checks, builds, packs and prints what would be published
 *     npm run release -- --publish          the same, then `npm publish --provenance --access public`
 *
 * `--publish` runs `.ci/run` first. `--tested` says that it has passed on this commit, so nothing is tested or checked
 * again. `--built` uses dist as it is.
 */
import { execFile, spawn } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'

const run = promisify(execFile)
const root = fileURLToPath(new URL('..', import.meta.url))
const maxBytes = 1_750_000
/** The package has nothing else at its top. */
const topLevel = /^(dist|docs|deploy)\/|^(package\.json|README\.md|CHANGELOG\.md|SECURITY\.md|LICENSE)$/
const unwanted = /\.map$|\.tsbuildinfo$|\.db$|(^|\/)\.|node_modules\//

/** A reason not to release, for the person who runs this. */
class Refused extends Error {}

const { values } = parseArgs({
  options: {
    prepare: { type: 'string' },
    repository: { type: 'string' },
    publish: { type: 'boolean', default: false },
    'dry-run': { type: 'boolean', default: false },
    tested: { type: 'boolean', default: false },
    built: { type: 'boolean', default: false },
  },
})

try {
  if (values.publish && values['dry-run']) throw new Refused('--publish and --dry-run exclude each other.')
  if (values.repository !== undefined) await setRepository(values.repository)
  else if (values.prepare !== undefined) await prepare(values.prepare)
  else await release()
} catch (error) {
  if (!(error instanceof Refused)) throw error
  console.error(error.message)
  process.exitCode = 1
}

async function release() {
  const pkg = await json('package.json')
  await requireCleanTree()
  await requireVersion(pkg)
  const obstacles = publishObstacles(pkg)
  if (values.publish && obstacles.length > 0) throw new Refused(obstacles.join('\n'))

  if (!values.publish)
    console.log('Dry run: nothing is published, and .ci/run must have passed on this commit.')
  else if (!values.tested) await show('.ci/run', [])
  if (!values.built) await show('npm', ['run', '--silent', 'build'])
  if (!values.tested) await show('node', ['scripts/check.mjs', 'exports', 'licences'])

  const folder = await mkdtemp(join(tmpdir(), 'hookonce-release-'))
  try {
    const tarball = await pack(folder)
    if (values.publish) await show('npm', ['publish', tarball, '--provenance', '--access', 'public'])
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  console.log(
    values.publish
      ? `Published ${pkg.name}@${pkg.version}.`
      : `Would run: npm publish --provenance --access public (${pkg.name}@${pkg.version})`,
  )
  if (obstacles.length > 0) throw new Refused(`Publishing would be refused:\n${obstacles.join('\n')}`)
}

/** The one place for the address of the project: all other links are relative. @param {string} url */
async function setRepository(url) {
  const address = url.replace(/(\.git)?\/?$/, '')
  if (!/^https:\/\/[\w.-]+(\/[\w.-]+){2,}$/.test(address))
    throw new Refused(`${url} is not an address such as https://github.com/owner/name.`)
  const links = {
    homepage: `${address}#readme`,
    repository: { type: 'git', url: `git+${address}.git` },
    bugs: { url: `${address}/issues` },
  }
  const pkg = { ...(await json('package.json')), ...links }
  await writeFile(join(root, 'package.json'), `${JSON.stringify(pkg, null, 2)}\n`)
  console.log(`package.json names ${address}. Next: commit it.`)
}

async function requireCleanTree() {
  const { stdout } = await run('git', ['status', '--porcelain'], { cwd: root })
  if (stdout !== '')
    throw new Refused(`The working tree has changes that are not committed; commit or stash them:\n${stdout}`)
}

/** package.json, the lock file, the changelog and the tags agree. @param {Record<string, any>} pkg */
async function requireVersion({ version }) {
  const lock = await json('package-lock.json')
  if (lock.version !== version || lock.packages[''].version !== version)
    throw new Refused(
      `package-lock.json has version ${lock.version} and package.json ${version}; run npm run release -- --prepare ${version}`,
    )
  const { unreleased, released } = changelogSections(await readFile(join(root, 'CHANGELOG.md'), 'utf8'))
  if (!released.includes(version))
    throw new Refused(
      `CHANGELOG.md has no section [${version}]; run npm run release -- --prepare ${version} and commit.`,
    )
  if (unreleased !== '')
    throw new Refused(
      `CHANGELOG.md has entries below [Unreleased] that version ${version} would not have; release the next version.`,
    )
  const { stdout: tagged } = await run('git', ['tag', '--list', `v${version}`, '--no-contains', 'HEAD'], {
    cwd: root,
  })
  if (tagged !== '') throw new Refused(`The tag v${version} is on another commit; choose the next version.`)
}

/** What npm would refuse, or accept without a proof of origin. @param {Record<string, any>} pkg @returns {string[]} */
function publishObstacles(pkg) {
  const obstacles = []
  if (!pkg.repository?.url)
    obstacles.push(
      'package.json has no `repository.url`: the provenance of a package names its public repository, so add the address before publishing.',
    )
  const { ACTIONS_ID_TOKEN_REQUEST_URL, SIGSTORE_ID_TOKEN } = process.env
  if (values.publish && !ACTIONS_ID_TOKEN_REQUEST_URL && !SIGSTORE_ID_TOKEN)
    obstacles.push(
      'There is no identity token: provenance can be proven only by a CI job (GitHub Actions with `id-token: write`, or GitLab CI). Push the tag and let the workflow publish.',
    )
  return obstacles
}

/** The tarball; refuses one that has files which do not belong into it. @param {string} folder */
async function pack(folder) {
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
    cwd: root,
    maxBuffer: 64 * 1024 * 1024,
  })
  const listed = Object.values(JSON.parse(stdout))[0]
  /** @type {string[]} */
  const paths = listed.files.map((/** @type {{ path: string }} */ file) => file.path).sort()
  const wrong = paths.filter((path) => !topLevel.test(path) || unwanted.test(path))
  if (wrong.length > 0) throw new Refused(`These files do not belong into the package:\n${wrong.join('\n')}`)
  const tarball = join(folder, (await readdir(folder)).find((name) => name.endsWith('.tgz')) ?? '')
  const { size } = await stat(tarball)
  for (const path of paths) console.log(`  ${path}`)
  console.log(
    `${paths.length} files, ${size.toLocaleString('en')} bytes packed (at most ${maxBytes.toLocaleString('en')})`,
  )
  if (size > maxBytes) throw new Refused(`The package has ${size} bytes; at most ${maxBytes} are allowed.`)
  return tarball
}

/** @param {string} version */
async function prepare(version) {
  if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
    throw new Refused(`"${version}" is not a version such as 0.2.0 or 0.2.0-rc.1.`)
  await requireCleanTree()
  const text = await readFile(join(root, 'CHANGELOG.md'), 'utf8')
  const { unreleased, released } = changelogSections(text)
  if (released.includes(version)) throw new Refused(`CHANGELOG.md already has a section [${version}].`)
  if (unreleased === '')
    throw new Refused('CHANGELOG.md has nothing below [Unreleased]: there is nothing to release.')
  const date = new Date().toISOString().slice(0, 10)
  const heading = '## [Unreleased]\n'
  await writeFile(
    join(root, 'CHANGELOG.md'),
    text.replace(heading, `${heading}\n## [${version}] - ${date}\n`),
  )
  for (const name of ['package.json', 'package-lock.json']) {
    const whole = await json(name)
    whole.version = version
    if (whole.packages) whole.packages[''].version = version
    await writeFile(join(root, name), `${JSON.stringify(whole, null, 2)}\n`)
  }
  console.log(
    `Prepared ${version}. Next: git commit -am "release ${version}", git tag v${version}, push both.`,
  )
}

/** The text below [Unreleased], and the versions that have a section. @param {string} text */
function changelogSections(text) {
  const sections = text.split(/^## /m).slice(1)
  const unreleased = sections.find((section) => section.startsWith('[Unreleased]')) ?? ''
  return {
    unreleased: unreleased.replace('[Unreleased]', '').trim(),
    released: sections.map((section) => /^\[([^\]]+)\]/.exec(section)?.[1]),
  }
}

/** @param {string} name @returns {Promise<any>} */
async function json(name) {
  return JSON.parse(await readFile(join(root, name), 'utf8'))
}

/** Runs a program that writes to this terminal. @param {string} program @param {string[]} args */
async function show(program, args) {
  const child = spawn(program, args, { cwd: root, stdio: 'inherit' })
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve))
  if (code !== 0) throw new Refused(`${[program, ...args].join(' ')} failed; nothing is published.`)
}
