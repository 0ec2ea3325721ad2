// Two things side by side, only where they differ.

interface Difference {
  readonly feature: string
  readonly before: unknown
  readonly after: unknown
}

const shown = (value: unknown): string =>
  value === undefined || value === null ? '–' : typeof value === 'string' ? value : JSON.stringify(value)

export function Differences({
  rows,
  before,
  after,
}: {
  readonly rows: readonly Difference[]
  readonly before: string
  readonly after: string
}) {
  return (
    <table className="w-full max-w-4xl table-fixed text-left">
      <thead className="text-sm text-dim">
        <tr className="border-b border-line">
          <th scope="col" className="w-1/3 py-1 font-normal">
            Field
          </th>
          <th scope="col" className="py-1 font-normal">
            {before}
          </th>
          <th scope="col" className="py-1 font-normal">
            {after}
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.feature} className="border-b border-line align-top">
            <th scope="row" className="py-1 pr-3 font-mono text-sm font-normal break-words">
              <bdi>{row.feature}</bdi>
            </th>
            <td className="py-1 pr-3 font-mono text-sm break-words text-dead">
              <bdi>{shown(row.before)}</bdi>
            </td>
            <td className="py-1 font-mono text-sm break-words text-succeeded">
              <bdi>{shown(row.after)}</bdi>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
