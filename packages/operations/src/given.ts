// Inputs say undefined for what is missing; the port says nothing.

/** The fields that have a value. */
export function given<T extends object>(fields: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
}
