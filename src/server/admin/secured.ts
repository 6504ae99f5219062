/** Headers on every answer: what a browser may do with it is as little as the page needs. */
const headers: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  // Whatever is asked for here may be different for the next who asks.
  'cache-control': 'no-store',
}

export function secured(response: Response): Response {
  const answer = new Response(response.body, response)
  for (const [name, value] of Object.entries(headers)) {
    if (name === 'cache-control' && answer.headers.has(name)) continue
    answer.headers.set(name, value)
  }
  return answer
}
