// Text for which a cell has no room: the whole of it on hover.

/** Gives the cell that the pointer is on a title, if something in it is cut. */
export function nameCut(target: EventTarget): void {
  const cell = target instanceof Element ? target.closest<HTMLElement>('[role=gridcell]') : null
  if (cell === null) return
  const isCut = [cell, ...cell.querySelectorAll('*')].some((part) => part.scrollWidth > part.clientWidth + 1)
  if (isCut) cell.title = cell.textContent
  else cell.removeAttribute('title')
}
