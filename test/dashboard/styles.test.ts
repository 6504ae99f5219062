/** Every class has a rule, and every rule has a user: the compiler checks neither. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

const root = new URL('../../dashboard/src/', import.meta.url).pathname
const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const components = files.filter((file) => file.endsWith('.tsx')).map((file) => ({ file, code: read(file) }))

/** The classes of a style sheet, without those that belong to another one. */
const classesOf = (css: string) =>
  new Set(matches(css.replaceAll(/:global\([^)]*\)/g, ''), /\.([a-zA-Z][\w-]*)/g))
const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map((match) => match[1]!)

test.each(files.filter((file) => file.endsWith('.module.css')))(
  '%s has the classes that are used',
  (sheet) => {
    const used = components.flatMap(({ file, code }) =>
      [...code.matchAll(/^import (\w+) from '(.*\.module\.css)'$/gm)]
        .filter(([, , path]) => join(dirname(file), path!) === sheet)
        .flatMap(([, name]) => matches(code, new RegExp(`\\b${name}\\.(?!module)(\\w+)`, 'g'))),
    )
    expect([...new Set(used)].sort()).toEqual([...classesOf(read(sheet))].sort())
  },
)

const shared = new Set(['base', 'controls'].flatMap((name) => [...classesOf(read(`styles/${name}.css`))]))

test('every class that components share is used', () => {
  const words = new Set(components.flatMap(({ code }) => code.match(/[\w-]+/g) ?? []))
  expect([...shared].filter((name) => !words.has(name))).toEqual([])
})

test.each(components)('$file names only shared classes as text', ({ code }) => {
  const texts = [
    ...matches(code, /className="([^"]*)"/g),
    ...matches(code, /className=\{`([^`]*)`\}/g).map((text) => text.replaceAll(/\$\{[^}]*\}/g, ' ')),
  ]
  const names = texts.flatMap((text) => text.split(/\s+/)).filter((name) => name !== '')
  expect(names.filter((name) => !shared.has(name))).toEqual([])
})
