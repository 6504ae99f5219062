/** Runs the model: `explore` tries all orders of a part of it, `follow` checks whether a trace keeps the rules. */
import { execFile } from 'node:child_process'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Trace } from './history.js'

export type Part = 'INTAKE' | 'LEASES' | 'CONSUMERS'

export interface Exploration {
  readonly states: number
  /** The assertion that does not hold; null when all hold. */
  readonly fault: string | null
}

const spin = process.env.HOOKONCE_TEST_SPIN ?? 'spin'
const compiler = process.env.HOOKONCE_TEST_CC ?? 'gcc'
const rules = ['rules.pml', 'explore.pml', 'trace.pml']

export async function explore(part: Part, definitions: readonly string[] = []): Promise<Exploration> {
  return inFolder(async (folder) => {
    const defined = [part, ...definitions].map((one) => `-D${one}`)
    await run(spin, [...defined, '-a', 'explore.pml'], folder)
    await run(compiler, ['-w', '-DSAFETY', '-DCOLLAPSE', '-DVECTORSZ=2048', '-o', 'pan', 'pan.c'], folder)
    const said = await run('./pan', ['-m1000000'], folder)
    const states = Number(/(\S+) states, stored/.exec(said)?.[1] ?? Number.NaN)
    if (!(states > 0) || /max search depth too small/.test(said))
      throw new Error(`The search has not ended: ${said}`)
    return { states, fault: /errors: 0/.test(said) ? null : (/pan:1: (.*)/.exec(said)?.[1] ?? said) }
  })
}

/** Null when every line is allowed; else the line that no rule allows, with those before it about the same event. */
export async function follow({ lines, about, events, consumers }: Trace): Promise<string | null> {
  return inFolder(async (folder) => {
    const sizes = [`-DEVENTS=${events}`, `-DCONSUMERS=${consumers}`]
    const said = await run(
      'spin',
      ['-B', '-T', ...sizes, 'trace.pml'],
      folder,
      [...lines, '0', ''].join('\n'),
    )
    if (said.includes(`ACCEPTED ${lines.length}`)) return null
    const line = Number(/REJECTED line (\d+)/.exec(said)?.[1] ?? Number.NaN)
    if (!(line > 0)) throw new Error(`The trace was not followed to its end: ${said}`)
    const name = about[line - 1]!.split(' ').slice(1, -3).join(' ')
    const before = about.slice(0, line).filter((one) => one.includes(` ${name} `))
    return `no rule allows "${about[line - 1]}"; before it: ${before.slice(-12, -1).join('; ')}`
  })
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'hookonce-model-'))
  try {
    for (const name of rules)
      await copyFile(fileURLToPath(new URL(name, import.meta.url)), join(folder, name))
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function run(program: string, args: readonly string[], cwd: string, input = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(program, args, { cwd, maxBuffer: 64 << 20 }, (error, out, problems) => {
      if (error) reject(new Error(`${program} ${args.join(' ')} failed: ${problems || out || error.message}`))
      else resolve(out)
    })
    // It ends at the first line that no rule allows, and does not read the others.
    child.stdin!.on('error', () => {})
    child.stdin!.end(input)
  })
}
