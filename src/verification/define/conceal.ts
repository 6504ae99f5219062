/** A source's secrets taken out of a text. They stay in here: a source shows none, also not to who prints it. */
const LEAST_CHARACTERS = 8

/** `given` are the values of secret options: a text, a list, or a function that gives them. */
export function concealer(given: readonly unknown[]): (text: string) => string {
  const texts = given.flatMap((value) => {
    const resolved: unknown = typeof value === 'function' ? value() : value
    return [resolved].flat().filter((one): one is string => typeof one === 'string')
  })
  const needles = [...new Set(texts.flatMap(forms))]
    .filter((text) => text.length >= LEAST_CHARACTERS)
    .sort((a, b) => b.length - a.length)
  return (text) => needles.reduce((rest, needle) => rest.replaceAll(needle, '***'), text)
}

/** As it is, without its prefix (`whsec_`), and each line of a key in PEM. */
function forms(secret: string): string[] {
  const trimmed = secret.trim()
  const lines = trimmed.split(/\r?\n/).filter((line) => !line.startsWith('-----'))
  return [trimmed, trimmed.replace(/^[A-Za-z]+_/, ''), ...lines]
}
