import { ToggleGroup } from 'radix-ui'
import css from './segments.module.css'

interface SegmentsProps<T extends string> {
  readonly label: string
  readonly value: T
  readonly options: readonly (readonly [value: T, text: string])[]
  readonly onChange: (value: T) => void
}

export function Segments<T extends string>({ label, value, options, onChange }: SegmentsProps<T>) {
  return (
    <ToggleGroup.Root
      className={css.segments}
      type="single"
      aria-label={label}
      value={value}
      // Pressing the chosen one again would choose none.
      onValueChange={(next) => (next === '' ? undefined : onChange(next as T))}
    >
      {options.map(([option, text]) => (
        <ToggleGroup.Item key={option} value={option}>
          {text}
        </ToggleGroup.Item>
      ))}
    </ToggleGroup.Root>
  )
}
