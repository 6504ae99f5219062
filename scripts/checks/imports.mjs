/** Imports point one way. The table below is the architecture; ARCHITECTURE.md draws it. */
import { builtinModules } from 'node:module'
import { posix } from 'node:path'
import ts from 'typescript'
import { files, read } from './run.mjs'

const words = [
  'model',
  'errors',
  'error-table',
  'clock',
  'duration',
  'options',
  'ip',
  'log',
  'nearest',
  'curl',
  'digest',
  'glob',
  'counters',
  'optional-module',
  'package-version',
  'references',
  'tracing',
]
const contracts = ['store', 'recorder', 'once', 'provider', 'http-exchange']
const steps = ['intake', 'processing', 'retention', 'silence', 'spool', 'seen', 'encryption']
const below = [...words, ...contracts]
const core = [
  ...below,
  'verification',
  ...steps,
  'reconcile',
  'providers',
  'stores',
  'open-store',
  'inbox',
  'index',
]

/**
 * A part is a file or a folder directly in src (in src/stores: each folder of its own). Its own files are always allowed.
 * @type {Record<string, readonly string[]>}
 */
const mayImport = {
  ...each(words, words),
  ...each(contracts, below),
  verification: below,
  providers: [...below, 'verification'],
  'stores/shared': below,
  stores: [...below, 'stores/shared'],
  ...each(steps, below),
  // A stored body is read again, to find the payload of an event in it: by the code that read it first.
  processing: [...below, 'verification'],
  // It records what intake would have, for handlers that processing knows, within the ages of retention.
  reconcile: [...below, 'intake', 'processing', 'retention'],
  // The spool is a SQLite file of its own: it opens one as that store does, and asks the store for nothing else.
  spool: [...below, 'stores/sqlite'],
  redis: [...below, 'seen'],
  'open-store': [...below, 'stores'],
  inbox: core,
  config: [...core, 'adapters', 'forward', 'telemetry', 'server'],
  index: [...core, 'config'],
  adapters: core,
  forward: core,
  telemetry: [...core, 'forward'],
  server: [...core, 'adapters', 'forward', 'telemetry'],
  check: core,
  cli: [...core, 'adapters', 'forward', 'telemetry', 'server', 'config', 'check', 'testing'],
  testing: [...core, 'adapters'],
  types: ['inbox'],
}

export const imports = {
  name: 'imports',
  async run() {
    const pkg = JSON.parse(await read('package.json'))
    const installed = Object.keys({ ...pkg.dependencies, ...pkg.peerDependencies })
    // Only types: whoever imports hookonce/types/stripe has installed the package stripe.
    const described = [...installed, ...Object.keys(pkg.devDependencies)]
    const problems = []
    for (const file of await files('src', '.ts')) {
      const part = partOf(file)
      const allowed = mayImport[part] ?? mayImport[part.split('/')[0] ?? '']
      if (!allowed) {
        problems.push(`${file}: src/${part} is in no layer; give it a line in scripts/checks/imports.mjs`)
        continue
      }
      for (const { fileName } of ts.preProcessFile(await read(file), true, true).importedFiles) {
        const problem = fileName.startsWith('.')
          ? inside(file, part, fileName, allowed)
          : outside(fileName, part === 'types' ? described : installed)
        if (problem) problems.push(`${file}: ${problem}`)
      }
    }
    return problems
  },
}

/**
 * @param {string} file
 * @param {string} part
 * @param {string} specifier
 * @param {readonly string[]} allowed
 */
function inside(file, part, specifier, allowed) {
  const target = partOf(posix.join(posix.dirname(file), specifier))
  if (target === part || allowed.includes(target) || allowed.includes(target.split('/')[0] ?? '')) return null
  return `imports ${specifier}, but src/${part} may not import src/${target}`
}

/**
 * @param {string} specifier
 * @param {readonly string[]} packages
 */
function outside(specifier, packages) {
  if (specifier.startsWith('node:')) return null
  if (builtinModules.includes(specifier)) return `imports ${specifier} without node:`
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
  return packages.includes(name) ? null : `imports ${specifier}, which is neither a dependency nor a peer`
}

/** @param {string} path */
function partOf(path) {
  const [first = '', second = ''] = path.replace(/^src\//, '').split('/')
  if (first === 'stores' && second) return `stores/${second}`
  return first.replace(/\.(js|ts)$/, '')
}

/**
 * @param {readonly string[]} parts
 * @param {readonly string[]} allowed
 */
function each(parts, allowed) {
  return Object.fromEntries(parts.map((part) => [part, allowed]))
}
