/** A certificate and its key, as files or as PEM text. */
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { invalid } from '../errors.js'

export interface TlsOptions {
  /** The chain: a path, or PEM text. */
  readonly cert: string
  /** Its private key: a path, or PEM text. */
  readonly key: string
}

export function readTls({ cert, key }: TlsOptions): { cert: string; key: string } {
  const pair = { cert: pem('cert', cert), key: pem('key', key) }
  try {
    createSecureContext(pair)
  } catch {
    // What the driver says may quote the key.
    throw invalid(
      'server.tls',
      'needs a certificate chain (PEM) and the private key that belongs to it; these two do not match',
    )
  }
  return pair
}

function pem(name: 'cert' | 'key', given: string): string {
  if (typeof given !== 'string' || given === '')
    throw invalid(`server.tls.${name}`, 'must be a file path or PEM text')
  if (given.includes('-----BEGIN')) return given
  try {
    return readFileSync(given, 'utf8')
  } catch (error) {
    throw invalid(
      `server.tls.${name}`,
      `names the file ${given}, which cannot be read (${(error as NodeJS.ErrnoException).code})`,
    )
  }
}
