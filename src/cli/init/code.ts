/** A written module as text, in the language and the module format of a project. */
import type { Project } from './project.js'

export interface Import {
  readonly from: string
  /** `import name from` */
  readonly whole?: string
  /** `import { name } from` */
  readonly names?: readonly string[]
  /** Left out in JavaScript. */
  readonly types?: readonly string[]
}

export interface File {
  /** Below the folder of the project. */
  readonly path: string
  readonly text: string
}

/** `body` has `export` where an ES module has it; in CommonJS the exports are collected at the end. */
export function moduleText(project: Project, imports: readonly Import[], body: string): string {
  const lines = imports.map((each) => importLine(project, each)).filter((line) => line !== '')
  const head = lines.length === 0 ? '' : `${lines.join('\n')}\n\n`
  if (!isRequire(project)) return `${head}${body.trim()}\n`
  const exported = [...body.matchAll(/^export (?:const|function) (\w+)/gm)].map(([, name]) => name)
  const tail = exported.length === 0 ? '' : `\n\nmodule.exports = { ${exported.join(', ')} }`
  return `${head}${body.trim().replaceAll(/^export /gm, '')}${tail}\n`
}

/** TypeScript is written with `import` in both formats. */
function isRequire({ language, modules }: Project): boolean {
  return language === 'javascript' && modules === 'commonjs'
}

function importLine(project: Project, { from, whole, names = [], types = [] }: Import): string {
  const typed = project.language === 'typescript' ? types : []
  if (whole === undefined && names.length + typed.length === 0) return ''
  if (isRequire(project)) return `const ${whole ?? `{ ${names.join(', ')} }`} = require('${from}')`
  if (whole === undefined && names.length === 0) return `import type { ${typed.join(', ')} } from '${from}'`
  const inner = [...names, ...typed.map((name) => `type ${name}`)]
  const parts = [whole, inner.length === 0 ? undefined : `{ ${inner.join(', ')} }`]
  return `import ${parts.filter((part) => part !== undefined).join(', ')} from '${from}'`
}

/**
 * How a module names another one. Bundlers and CommonJS in TypeScript take names without an extension; ES modules in Node
 * need `.js`, which TypeScript understands as the `.ts` beside it.
 */
export function relative(project: Project, path: string): string {
  if (project.framework === 'next') return path
  if (project.language === 'javascript') return `${path}.${project.extension}`
  return project.modules === 'esm' ? `${path}.js` : path
}

/** The folder of the inbox and its handlers. */
export function moduleFolder({ base, framework }: Project): string {
  return `${base}${framework === 'next' ? 'lib' : 'webhooks'}`
}

/** The type of `ctx.tx`, which TypeScript needs in the signature of `handlers`. */
export function transactionType({ database }: Project): Import {
  return database === 'postgres'
    ? { from: 'hookonce/postgres', types: ['PostgresTx'] }
    : { from: 'hookonce/sqlite', types: ['SqliteTx'] }
}
