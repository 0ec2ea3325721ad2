// What was typed into a field of a form, by the field's name.

export function formText(form: FormData, field: string): string {
  const value = form.get(field)
  return typeof value === 'string' ? value.trim() : ''
}
