interface SelectProps<T extends string> {
  readonly label: string
  readonly value: T
  readonly options: readonly (readonly [value: T, text: string])[]
  readonly onChange: (value: T) => void
  /** A choice that always has a value is not marked as a filter that is set. */
  readonly plain?: boolean
}

export function Select<T extends string>({ label, value, options, onChange, plain }: SelectProps<T>) {
  return (
    <select
      className={`input filter${value && !plain ? ' set' : ''}`}
      aria-label={label}
      value={value}
      onChange={(event) => onChange(event.target.value as T)}
    >
      {options.map(([option, text]) => (
        <option key={option} value={option}>
          {text}
        </option>
      ))}
    </select>
  )
}
