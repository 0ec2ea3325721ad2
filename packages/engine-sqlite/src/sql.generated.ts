// The SQL of this package, compiled from its sql folder. Do not edit: change the .sql files and run
// `npm run generate`.

export const migrations = [] as const

export const statements = {} as const
