/** A body and its headers as text. Nothing here makes markup of them. */
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { Payload } from '../../api/queries'
import { bytes as size, visible } from '../../app/format'
import { Facts } from '../../ui/card'
import { type Content, hexRow, hexRows, linesOf, sha256 } from './bytes'
import { Lines } from './lines'

interface RawProps {
  readonly text: string
  readonly label?: string
}

export function Raw({ text, label = 'Raw text' }: RawProps) {
  const lines = useMemo(() => linesOf(text), [text])
  return <Lines label={label} count={lines.length} line={(index) => visible(lines[index]!)} />
}

export function Bytes({ bytes }: { readonly bytes: Uint8Array }) {
  return <Lines label="Bytes" count={hexRows(bytes)} line={(row) => hexRow(bytes, row)} />
}

export function Headers({ headers }: Pick<Payload, 'headers'>) {
  const entries = Object.entries(headers)
  if (entries.length === 0) return <p className="muted">No header was kept.</p>
  return (
    <Facts
      of={entries.map(([name, value]) => [
        name,
        <bdi key={name} className="mono">
          {visible(value)}
        </bdi>,
      ])}
    />
  )
}

export function Summary({ content }: { readonly content: Content }) {
  const { data: hash } = useQuery({
    queryKey: ['sha256', content.bytes],
    queryKeyHashFn: () => `sha256 ${content.bytes.length} ${content.text.slice(0, 200)}`,
    queryFn: () => sha256(content.bytes),
    staleTime: 0,
    gcTime: 0,
  })
  return (
    <p className="faint wrap">
      {size(content.bytes.length)}
      {hash ? (
        <>
          {' · SHA-256 '}
          <code>{hash}</code>
        </>
      ) : null}
    </p>
  )
}
