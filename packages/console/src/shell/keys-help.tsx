// `?`: all keys that do something here and now.

import { Sheet } from '../parts/sheet.tsx'
import { type Command, useAllCommands } from './commands.ts'
import { Keys } from './palette.tsx'

const EVERYWHERE: readonly (readonly [string, string])[] = [
  ['⌘ k', 'Palette: every page and action'],
  ['?', 'These keys'],
  ['j', 'Next row of a list (or ↓)'],
  ['k', 'Row before (or ↑)'],
  ['Enter', 'Open the row'],
  ['x', 'Select the row'],
  ['Esc', 'Close what is open'],
]

const GROUPS: readonly Command['group'][] = ['On this page', 'Go to', 'Look']

export default function KeysHelp({ onClose }: { readonly onClose: () => void }) {
  const commands = useAllCommands()
  const lines = (group: Command['group']) => commands.filter((one) => one.group === group && one.key !== undefined)
  return (
    <Sheet kind="middle" title="Keys" onClose={onClose}>
      <dl className="grid grid-cols-[auto_1fr] items-center gap-x-4 gap-y-1.5">
        {EVERYWHERE.map(([key, says]) => (
          <Line key={says} keys={key} says={says} />
        ))}
        {GROUPS.flatMap((group) =>
          lines(group).map((one) => <Line key={`${group} ${one.title}`} keys={one.key ?? ''} says={one.title} />),
        )}
      </dl>
    </Sheet>
  )
}

const Line = ({ keys, says }: { readonly keys: string; readonly says: string }) => (
  <>
    <dt>
      <Keys of={keys} />
    </dt>
    <dd>{says}</dd>
  </>
)
