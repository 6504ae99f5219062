/**
 * Writes docs/images/send.svg, the terminal in the README: what `hookonce send` and `hookonce events list` print.
 * `npm run screenshots` runs it.
 */
import { execFile, spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = fileURLToPath(new URL('..', import.meta.url))
const program = join(root, 'dist/cli/main.js')
const commands = [
  ['send', 'stripe', 'invoice.paid', '--times', '5', '--concurrency', '5'],
  ['events', 'list'],
]
const lineHeightPx = 19
const letterWidthPx = 7.85
const marginPx = 16

/** Runs the commands beside a `hookonce dev` in an empty folder, and writes the picture. @param {string} file */
export async function terminalPicture(file) {
  const folder = await mkdtemp(join(tmpdir(), 'hookonce-terminal-'))
  const env = { ...process.env, NO_COLOR: '1' }
  const server = spawn(process.execPath, [program, 'dev'], { cwd: folder, env })
  try {
    await new Promise((resolve, reject) => {
      server.stderr.on('data', (part) => String(part).includes('ready') && resolve(null))
      server.once('exit', (code) => reject(new Error(`hookonce dev ended with ${code}; is port 4100 free?`)))
    })
    /** @type {{ text: string, isCommand: boolean }[]} */
    const lines = []
    for (const words of commands) {
      const print = async () =>
        (await run(process.execPath, [program, ...words], { cwd: folder, env })).stdout
      let printed = await print()
      // Duplicates are counted in the log a moment after their answer.
      while (words[1] === 'list' && !/succeeded +5/.test(printed)) printed = await print()
      lines.push({ text: `$ npx hookonce ${words.join(' ')}`, isCommand: true })
      for (const text of printed.trimEnd().split('\n')) lines.push({ text, isCommand: false })
      lines.push({ text: '', isCommand: false })
    }
    await writeFile(file, picture(lines.slice(0, -1)))
  } finally {
    server.removeAllListeners('exit')
    server.kill()
    await rm(folder, { recursive: true, force: true })
  }
}

/** @param {{ text: string, isCommand: boolean }[]} lines */
function picture(lines) {
  const width = Math.ceil(Math.max(...lines.map(({ text }) => text.length)) * letterWidthPx) + 2 * marginPx
  const height = lines.length * lineHeightPx + 2 * marginPx
  const rows = lines.map(({ text, isCommand }, i) => {
    const y = marginPx + (i + 0.75) * lineHeightPx
    return `<text x="${marginPx}" y="${y}" fill="${isCommand ? '#ffffff' : colourOf(text)}"${isCommand ? ' font-weight="bold"' : ''}>${escaped(text)}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
<title>hookonce send and hookonce events list</title>
<rect width="100%" height="100%" rx="8" fill="#16181d"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="13" xml:space="preserve">
${rows.join('\n')}
</g>
</svg>
`
}

/** @param {string} text */
function colourOf(text) {
  return /duplicates|succeeded/.test(text) ? '#7ee2a8' : '#a9b1bd'
}

/** @param {string} text */
function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll(' ', '\u00a0')
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await terminalPicture(join(root, 'docs/images/send.svg'))
