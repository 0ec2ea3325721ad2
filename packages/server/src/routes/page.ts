// A page as the engine is asked for it: without what is not given.

import type { PageRequest } from '@reprise/core'

export const pageOf = ({
  limit,
  cursor,
}: {
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}): PageRequest => ({
  ...(limit === undefined ? {} : { limit }),
  ...(cursor === undefined ? {} : { cursor }),
})
