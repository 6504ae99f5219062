const maxBytes = 65_536
const timeoutMs = 5_000

/** A look-up may be code of the user: one that hangs must not hold up all later deliveries with that key. */
export const lookUpTimeoutMs = 10_000

/** `missing`: the host says that there is none. `failed`: an outage, or an answer that is not usable. */
export async function fetchBytes(load: typeof fetch, url: string): Promise<Buffer | 'missing' | 'failed'> {
  try {
    const response = await load(url, { redirect: 'error', signal: AbortSignal.timeout(timeoutMs) })
    if (response.status >= 400 && response.status < 500 && response.status !== 429) return 'missing'
    return (response.ok ? await readUpTo(response, maxBytes) : null) ?? 'failed'
  } catch {
    return 'failed'
  }
}

/** Null when the body is larger; the rest is not read. */
async function readUpTo(response: Response, most: number): Promise<Buffer | null> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    // A return cancels the body.
    if (size > most) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
