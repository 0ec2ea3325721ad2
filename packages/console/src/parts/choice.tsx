// One of a few, all of them in sight: filters, orders, ranges.

interface ChoiceProps<Value extends string> {
  readonly label: string
  readonly value: string
  readonly options: readonly (readonly [Value, string])[]
  readonly onChange: (value: Value) => void
}

export function Choice<Value extends string>({ label, value, options, onChange }: ChoiceProps<Value>) {
  return (
    <div role="group" aria-label={label} className="flex flex-wrap gap-0.5 text-sm">
      {options.map(([one, name]) => (
        <button
          key={one}
          type="button"
          aria-pressed={one === value}
          className={`h-7 rounded-sm px-2 ${one === value ? 'bg-accent-soft font-semibold text-accent' : 'text-dim hover:bg-sunken'}`}
          onClick={() => onChange(one)}
        >
          {name}
        </button>
      ))}
    </div>
  )
}
