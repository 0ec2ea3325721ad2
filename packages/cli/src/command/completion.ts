// Completion scripts for shells, written from the definitions of commands. They hold all words themselves: completing a word
// starts no process.

import type { CommandDefinition, OptionDefinition } from './definition.ts'
import { ownOptions, SHARED_OPTIONS } from './program.ts'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

interface Word {
  readonly word: string
  readonly about: string
}

interface Node {
  /** `''` at the top, then `config` and `config check`. */
  readonly path: string
  readonly words: readonly Word[]
  readonly options: readonly Word[]
}

export function completionScript(shell: Shell, commands: readonly CommandDefinition[]): string {
  const nodes = tree(commands)
  switch (shell) {
    case 'bash':
      return bash(nodes)
    case 'zsh':
      return `#compdef reprise\nautoload -U +X bashcompinit && bashcompinit\n${bash(nodes)}`
    case 'fish':
      return fish(nodes)
  }
}

function tree(commands: readonly CommandDefinition[]): readonly Node[] {
  const shared = SHARED_OPTIONS.flatMap(longFlag)
  const families = new Map<string, Word[]>([['', []]])
  for (const { path, summary } of commands) {
    const [first, second] = path
    if (second === undefined) families.get('')?.push({ word: first, about: summary })
    else {
      if (!families.has(first)) {
        families.set(first, [])
        families.get('')?.push({ word: first, about: `${first} …` })
      }
      families.get(first)?.push({ word: second, about: summary })
    }
  }
  const leaves = commands.map((command) => ({
    path: command.path.join(' '),
    words: [],
    options: [...ownOptions(command).flatMap(longFlag), ...shared],
  }))
  return [...[...families].map(([path, words]) => ({ path, words, options: shared })), ...leaves]
}

function longFlag({ flags, about }: OptionDefinition): Word[] {
  const word = /--[\w-]+/.exec(flags)?.[0]
  return word === undefined ? [] : [{ word, about }]
}

function bash(nodes: readonly Node[]): string {
  const cases = nodes.map(({ path, words, options }) => {
    const all = [...words, ...options, { word: '--help' }].map(({ word }) => word)
    return `    '${path}') words='${all.join(' ')}' ;;`
  })
  return `# Completion of reprise for bash.
_reprise() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path='' word words=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) case " ${pathWords(nodes)} " in *" \${path:+$path/}$word "*) path="\${path:+$path/}$word" ;; esac ;; esac
  done
  case "\${path//\\// }" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [ \${#COMPREPLY[@]} -eq 0 ]; then COMPREPLY=($(compgen -f -- "$current")); fi
}
complete -F _reprise reprise
`
}

const pathWords = (nodes: readonly Node[]): string =>
  nodes
    .map(({ path }) => path.replace(' ', '/'))
    .filter((path) => path !== '')
    .join(' ')

function fish(nodes: readonly Node[]): string {
  const lines = nodes.flatMap(({ path, words, options }) => {
    const when = path === '' ? '__fish_use_subcommand' : seen(path)
    return [
      ...words.map(({ word, about }) => `complete -c reprise -n ${quoted(when)} -f -a ${word} -d ${quoted(about)}`),
      ...options.map(
        ({ word, about }) => `complete -c reprise -n ${quoted(when)} -l ${word.slice(2)} -d ${quoted(about)}`,
      ),
    ]
  })
  return `# Completion of reprise for fish.\n${lines.join('\n')}\n`
}

const seen = (path: string): string =>
  path
    .split(' ')
    .map((word) => `__fish_seen_subcommand_from ${word}`)
    .join('; and ')

const quoted = (text: string): string => `'${text.replaceAll(/[\\']/g, (character) => `\\${character}`)}'`
