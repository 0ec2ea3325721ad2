// What the commands about the audit and the ledger are tried with.

import { OPERATIONS } from '@reprise/operations'
import { z } from 'zod'
import type { CommandCase } from './command-cases.ts'

/** They change nothing. */
export const AUDITS: readonly CommandCase[] = [
  { argv: ['audit', '-o', 'json'], json: z.array(z.unknown()).min(1).and(OPERATIONS.listAudit.output.shape.items) },
  { argv: ['audit', 'verify', '-o', 'json'], json: OPERATIONS.verifyAudit.output.omit({ next: true }) },
  { argv: ['audit', 'export'], says: /0 seals written/ },
  { argv: ['audit', 'verify', '--file', 'none.ndjson'], exit: 2, says: /can't be read/ },
  { argv: ['ledger', '-o', 'json'], json: OPERATIONS.getLedger.output },
  { argv: ['ledger', '--tenant', 'acme'], text: /acme .*\n\nNo whole look/ },
  { argv: ['audit', 'mend'], exit: 2, says: /can not 'mend'/ },
]
