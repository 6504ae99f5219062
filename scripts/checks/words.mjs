/**
 * Words: names that say nothing are not used, no path of a machine gets into the repository, and the pages for users say what
 * a person would say, and nothing about how the project was tested.
 */
import { execFileSync } from 'node:child_process'
import { documents, files, read, root } from './run.mjs'

const declared = /\b(?:class|const|let|function|interface|type)\s+(\w+)/g
const empty = /Manager|Service|Helper|Util|^(?:job|task|data|info)s?$|Job(?![a-z])|Task(?![a-z])/
const emptyFile = /(?:^|[/-])(?:manager|service|helper|util|misc|common)s?(?:[.-]|\/)/
const machinePath = /(?<![\w.])\/(?:work|root|home)\/\w/

/** Pages for contributors, and the one that is about tests. */
const forContributors =
  /^(ARCHITECTURE|CONTRIBUTING|AGENTS|CHANGELOG)\.md$|^docs\/(decisions|internals)\/|^docs\/guarantees\.md$|^examples\//
/** Said so by nobody, or a laboratory note. @type {readonly RegExp[]} */
const notForUsers = [
  /\bof (its|their|your) own\b/,
  /\bby (itself|themselves)\b/,
  /\btried again\b/,
  /\bshall\b/,
  /\btest suite\b|\b(our|the) tests (run|do|have|stop)\b|npm run chaos|busy machine/,
  /\b(was|were) (measured|tested) (on|in|with)\b|\bran on 20\d\d/,
]

export const words = {
  name: 'words',
  async run() {
    const problems = []
    for (const file of await files('src', '.ts')) {
      if (emptyFile.test(file.slice('src/'.length)))
        problems.push(`${file}: a file named for nothing it does`)
      const code = (await read(file)).replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '')
      for (const [, name = ''] of code.matchAll(declared)) {
        if (empty.test(name))
          problems.push(`${file}: "${name}" is a word we do not use (src/model.ts is the dictionary)`)
      }
    }
    for (const file of tracked()) {
      const text = await read(file).catch(() => '')
      const index = text.split('\n').findIndex((line) => machinePath.test(line))
      if (index >= 0) problems.push(`${file}:${index + 1}: the path of a machine`)
    }
    for (const page of (await documents()).filter((path) => !forContributors.test(path))) {
      const lines = (await read(page)).split('\n')
      for (const [i, line] of lines.entries())
        for (const pattern of notForUsers) {
          const found = pattern.exec(line)
          if (found) problems.push(`${page}:${i + 1}: "${found[0]}" is not for a page that users read`)
        }
    }
    return problems
  },
}

function tracked() {
  const options = /** @type {const} */ ({ cwd: root, encoding: 'utf8' })
  return execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], options)
    .split('\n')
    .filter(
      (file) => /\.(?:[cm]?[jt]sx?|json|md|ya?ml|sql|sh)$|^\.ci\//.test(file) && file !== 'package-lock.json',
    )
}
