// One of several in a form, with its label.

interface PickProps {
  readonly label: string
  readonly value: string
  readonly options: readonly (readonly [value: string, word: string])[]
  readonly onChange: (value: string) => void
}

export const Pick = ({ label, value, options, onChange }: PickProps) => (
  <label className="flex min-w-0 flex-col gap-1">
    <span className="label">{label}</span>
    <select className="field" value={value} onChange={(event) => onChange(event.target.value)}>
      {options.map(([one, word]) => (
        <option key={one} value={one}>
          {word}
        </option>
      ))}
    </select>
  </label>
)
