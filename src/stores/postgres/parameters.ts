/** Parameters in the form that is cheapest for the driver and the server: array literals as text, bytes joined. */

/** Text array. Only quotes and backslashes need care: control characters never get here. */
export function texts(values: readonly (string | null)[]): string {
  let literal = '{'
  for (let i = 0; i < values.length; i++) {
    const value = values[i]
    if (i > 0) literal += ','
    literal +=
      value === null || value === undefined
        ? 'NULL'
        : `"${SPECIAL.test(value) ? value.replace(/["\\]/g, '\\$&') : value}"`
  }
  return `${literal}}`
}

const SPECIAL = /["\\]/

/** Array of numbers, booleans or nulls. */
export function numbers(values: readonly (number | boolean | null)[]): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`
}

/** One binary value; a Buffer travels as it is. */
export function joined(parts: readonly Uint8Array[]): Buffer {
  return parts.length === 1
    ? Buffer.from(parts[0]!.buffer, parts[0]!.byteOffset, parts[0]!.byteLength)
    : Buffer.concat(parts)
}
