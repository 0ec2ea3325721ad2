// A lane as the table of operations gives it.

import type { OperationOutput } from '../../api/client.ts'

export type Lane = OperationOutput<'listLanes'>['items'][number]
