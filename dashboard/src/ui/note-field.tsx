interface NoteFieldProps {
  readonly value: string
  readonly onChange: (note: string) => void
  readonly required?: boolean
}

export function NoteField({ value, onChange, required }: NoteFieldProps) {
  return (
    <label className="field">
      <span className="label">Note, for the audit{required ? '' : ' (optional)'}</span>
      <input
        className="input"
        maxLength={1_000}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </label>
  )
}
