/**
 * The text of one element of an XML body. No parser: no entities beyond the five, no DTD (a document with one is
 * refused), no namespaces. Enough to read a kind and an id that the signature has already covered.
 */
const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** `path` is dotted element names, each found inside the one before. Undefined when absent. */
export function xmlText(xml: string, path: string): string | undefined {
  if (xml.includes('<!DOCTYPE')) return undefined
  let inside = xml
  for (const tag of path.split('.')) {
    const found = element(inside, tag)
    if (found === undefined) return undefined
    inside = found
  }
  return inside.includes('<') ? undefined : decode(inside.trim())
}

function element(xml: string, tag: string): string | undefined {
  for (let at = xml.indexOf(`<${tag}`); at >= 0; at = xml.indexOf(`<${tag}`, at + 1)) {
    const after = xml[at + tag.length + 1]
    if (after !== '>' && after !== ' ' && after !== '\n' && after !== '\t') continue
    const open = xml.indexOf('>', at)
    const close = xml.indexOf(`</${tag}>`, open)
    return open < 0 || close < 0 ? undefined : xml.slice(open + 1, close)
  }
  return undefined
}

function decode(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|apos);/g, (_, name: string) => entities[name] ?? '')
}
