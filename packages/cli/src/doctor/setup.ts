// Checks of what people wrote: the configuration, the policies and the packs.

import { messageOf } from '@reprise/core'
import { problemText } from '../configuration/resolve.ts'
import { type Check, fail, ok, warn } from './finding.ts'

export const configuration: Check = async ({ resolved }) => {
  const { problems, notes, file } = resolved
  const wrong = problems.map((problem) =>
    fail('configuration', problemText(problem), 'docs/configuration.md has every setting.'),
  )
  const doubtful = notes.map((note) => warn('configuration', note, 'Correct its name, or unset it.'))
  if (wrong.length + doubtful.length > 0) return [...wrong, ...doubtful]
  return [ok('configuration', file === null ? 'No configuration file; nothing is wrong.' : `${file} is right.`)]
}

export const policies: Check = async ({ resolved }) => {
  const { policies: file } = resolved.values
  if (file === null)
    return [
      ok('policies', "No file of policies here: those published in the store count, else the actions' own settings."),
    ]
  const { parsePolicies, policyNotes, readFileText } = await import('@reprise/policies')
  try {
    const book = parsePolicies((await readFileText(file)).text, { file, version: 0 })
    const notes = policyNotes(book).map((note) => warn('policies', note, `See 'reprise policy check'.`))
    return notes.length > 0
      ? notes
      : [ok('policies', `${file}: ${counted(book.policies.length, 'policy', 'policies')}.`)]
  } catch (error) {
    return [fail('policies', messageOf(error), "Correct the file; 'reprise policy check' shows what is wrong with it.")]
  }
}

export const packs: Check = async ({ resolved }) => {
  if (resolved.values.packs.length === 0) return []
  const { loadPacks } = await import('@reprise/policies')
  return Promise.all(
    resolved.values.packs.map(async (path) => {
      try {
        const count = (await loadPacks(path)).reduce((sum, { actions }) => sum + actions.length, 0)
        return ok('packs', `${path}: ${counted(count, 'action', 'actions')}.`)
      } catch (error) {
        return fail('packs', messageOf(error), 'Correct the pack.')
      }
    }),
  )
}

const counted = (count: number, one: string, more: string): string => `${count} ${count === 1 ? one : more}`
