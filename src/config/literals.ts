/**
 * Secrets written into the file itself. A factory cannot tell where its secret came from, so the text is looked at: a
 * line that gives a secret a literal value. It is a warning and no proof; what it cannot see it does not mention.
 */
const assigned =
  /\b(\w*(?:secret|token|password|auth|privatekey|signingkey|apikey)\w*)["']?\s*:\s*\[?\s*(["'`])(?!\$\{)[^"'`]{8,}\2/i
const urlWithPassword = /\b\w+:\/\/[^\s:@/"'`]+:[^\s@/"'`$]+@/

/** Places such as `hookonce.config.ts:7`. The secret itself is not repeated. */
export function literalSecrets(text: string): { line: number; name: string }[] {
  return text.split('\n').flatMap((content, index) => {
    if (/^\s*(\/\/|\*|\/\*)/.test(content)) return []
    const name = assigned.exec(content)?.[1] ?? (urlWithPassword.test(content) ? 'a password in a URL' : null)
    return name === null ? [] : [{ line: index + 1, name }]
  })
}
