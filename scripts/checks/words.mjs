/** Words: names that say nothing are not used, and no path of a machine gets into the repository. */
import { execFileSync } from 'node:child_process'
import { files, read, root } from './run.mjs'

const declared = /\b(?:class|const|let|function|interface|type)\s+(\w+)/g
const empty = /Manager|Service|Helper|Util|^(?:job|task|data|info)s?$|Job(?![a-z])|Task(?![a-z])/
const emptyFile = /(?:^|[/-])(?:manager|service|helper|util|misc|common)s?(?:[.-]|\/)/
const machinePath = /(?<![\w.])\/(?:work|root|home)\/\w/

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
