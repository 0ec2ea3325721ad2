// What is wrong with the files of a tarball.

import type { Tarball } from './tarballs.ts'

const NOT_FOR_USERS = /(?:^|\/)(?:src|test)\/|\.tsbuildinfo$|\.generated\.map$/

export function tarballProblems({ manifest, files }: Tarball): string[] {
  const names = [...files.keys()]
  const bytes = (ending: RegExp): number =>
    names.reduce((sum, name) => sum + (ending.test(name) ? (files.get(name) ?? 0) : 0), 0)
  const wrong = [
    [files.has('README.md'), 'has no README.md'],
    [files.has('LICENSE'), 'has no LICENSE'],
    [names.some((name) => name.endsWith('.js')), 'has no code'],
    [names.some((name) => name.endsWith('.d.ts') || name === 'dist/index.html'), 'has no types, and is no page'],
    [!names.some((name) => NOT_FOR_USERS.test(name)), 'holds files that are not for users'],
    [bytes(/\.map$/) <= bytes(/\.m?js$/), 'has source maps that are larger than its code'],
  ] as const
  return wrong.filter(([isRight]) => !isRight).map(([, problem]) => `${manifest.name} ${problem}`)
}
