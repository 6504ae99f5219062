import type { Project } from './project.js'

export interface File {
  readonly path: string
  readonly text: string
}

/**
 * Writes `source`, a TypeScript module, in the language and module format of the project. In its body only `typed` adds
 * types.
 */
export function moduleText(project: Project, source: string): string {
  const lines = source.trim().split('\n')
  const imports = lines.filter((line) => line.startsWith('import ')).map((line) => importLine(project, line))
  const present = imports.filter((line) => line !== '')
  const body = lines
    .filter((line) => !line.startsWith('import '))
    .join('\n')
    .trim()
  const head = present.length === 0 ? '' : `${present.join('\n')}\n\n`
  if (!isRequire(project)) return `${head}${body}\n`
  const exported = [...body.matchAll(/^export (?:const|function) (\w+)/gm)].map(([, name]) => name)
  const tail = exported.length === 0 ? '' : `\n\nmodule.exports = { ${exported.join(', ')} }`
  return `${head}${body.replaceAll(/^export /gm, '')}${tail}\n`
}

export function typed({ language }: Project, text: string): string {
  return language === 'typescript' ? text : ''
}

/** TypeScript has `import` in both module formats. */
function isRequire({ language, modules }: Project): boolean {
  return language === 'javascript' && modules === 'commonjs'
}

/** `import whole from`, `import { names } from` or both. `import type` does not match. */
const IMPORT = /^import (?!type )(?:(\w+),? )?(?:\{ (.*) \} )?from '(.*)'$/

function importLine(project: Project, line: string): string {
  if (project.language === 'typescript')
    return line.replace(/'(\.{1,2}\/.*)'$/, (_, path) => `'${relative(project, path)}'`)
  const match = IMPORT.exec(line)
  if (match === null) return '' // only types
  const [, whole = '', names = '', from = ''] = match
  const values = names.split(', ').filter((name) => name !== '' && !name.startsWith('type '))
  const path = from.startsWith('.') ? relative(project, from) : from
  const list = values.length === 0 ? '' : `{ ${values.join(', ')} }`
  if (whole === '' && list === '') return ''
  if (isRequire(project)) return `const ${whole || list} = require('${path}')`
  return `import ${[whole, list].filter((part) => part !== '').join(', ')} from '${path}'`
}

/**
 * Bundlers and CommonJS in TypeScript take names without an extension. ES modules in Node need `.js`, which TypeScript
 * understands as the `.ts` beside it.
 */
function relative(project: Project, path: string): string {
  if (project.framework === 'next') return path
  if (project.language === 'javascript') return `${path}.${project.extension}`
  return project.modules === 'esm' ? `${path}.js` : path
}

export function moduleFolder({ base, framework }: Project): string {
  return `${base}${framework === 'next' ? 'lib' : 'webhooks'}`
}

export function storeNames({ database }: Project): { readonly from: string; readonly tx: string } {
  return database === 'postgres'
    ? { from: 'hookonce/postgres', tx: 'PostgresTx' }
    : { from: 'hookonce/sqlite', tx: 'SqliteTx' }
}
