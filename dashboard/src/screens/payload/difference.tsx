/** Two contents side by side, a value in each line. */
import { useMemo } from 'react'
import { visible } from '../../app/format'
import { type Content, linesOf } from './bytes'
import { diffLines, indented } from './diff'
import css from './difference.module.css'
import { Lines } from './lines'

const looks = {
  same: { mark: '  ', className: undefined },
  first: { mark: '− ', className: css.first },
  other: { mark: '+ ', className: css.other },
} as const

type Compared = Pick<Content, 'text' | 'json'>

interface DifferenceProps {
  readonly first: Compared
  readonly other: Compared
  /** What the two marks stand for. */
  readonly legend: string
}

export function Difference({ first, other, legend }: DifferenceProps) {
  const lines = useMemo(() => diffLines(linesOf(pretty(first)), linesOf(pretty(other))), [first, other])
  const changed = lines.filter(({ kind }) => kind !== 'same').length
  return (
    <>
      <p className="faint">
        {changed === 0
          ? 'The contents differ only in the spaces and line breaks between their values.'
          : legend}
      </p>
      <Lines
        label="Difference of the contents"
        count={lines.length}
        line={(index) => `${looks[lines[index]!.kind].mark}${visible(lines[index]!.text)}`}
        className={(index) => looks[lines[index]!.kind].className}
      />
    </>
  )
}

/** With line breaks, so that a difference is a line and not the whole body. */
function pretty({ text, json }: Compared): string {
  return json === undefined ? text : indented(text)
}
