// What the commands about the audit, the ledger, runbooks and incidents are tried with.

import { OPERATIONS } from '@reprise/operations'
import { z } from 'zod'
import type { CommandCase } from './command-cases.ts'

const atLeastOne = (list: z.ZodType) => z.array(z.unknown()).min(1).and(list)

/** They change nothing. */
export const AUDITS: readonly CommandCase[] = [
  { argv: ['audit', '-o', 'json'], json: z.array(z.unknown()).min(1).and(OPERATIONS.listAudit.output.shape.items) },
  { argv: ['audit', 'verify', '-o', 'json'], json: OPERATIONS.verifyAudit.output.omit({ next: true }) },
  { argv: ['audit', 'export'], says: /0 seals written/ },
  { argv: ['audit', 'verify', '--file', 'none.ndjson'], exit: 2, says: /can't be read/ },
  {
    argv: ['runbook', 'list', '-o', 'json'],
    json: z.array(z.unknown()).min(5).and(OPERATIONS.listRunbooks.output.shape.items),
  },
  { argv: ['runbook', 'show', 'stuck-worker-drain', '--json'], json: OPERATIONS.getRunbook.output },
  { argv: ['runbook', 'show', 'stuck-worker-drain'], text: /drainWorker/ },
  { argv: ['runbook', 'show', 'nothing'], exit: 3, says: /no runbook 'nothing'/ },
  { argv: ['runbook', 'runs', '-o', 'json'], json: z.array(z.never()) },
  { argv: ['runbook', 'run', 'stuck-worker-drain'], exit: 2, says: /'worker' is needed/ },
  { argv: ['runbook', 'run', 'stuck-worker-drain', '--input', 'worker'], exit: 2, says: /is no input/ },
  { argv: ['recovery-runbook', 'nothing'], exit: 3, says: /no runbook 'nothing'/ },
  { argv: ['runbook', 'watch', 'nothing'], exit: 3, says: /no run 'nothing'/ },
  { argv: ['runbook', 'resume', 'nothing'], exit: 3, says: /no run 'nothing'/ },
  { argv: ['runbook', 'abort', 'nothing'], exit: 3, says: /no run 'nothing'/ },
  { argv: ['runbook', 'confirm', 'nothing'], exit: 3, says: /no run 'nothing'/ },
  { argv: ['runbook', 'confirm', 'nothing', 'maybe'], exit: 2, says: /one of yes, no/ },
  { argv: ['runbook', 'publish', 'none.yaml'], exit: 2, says: /can't be read/ },
  { argv: ['incident', 'show', '-o', 'json'], json: atLeastOne(OPERATIONS.getIncident.output.shape.items) },
  { argv: ['incident', 'export'], text: /^# Incident\n[\s\S]*## Timeline/ },
  { argv: ['report', '-o', 'json'], json: OPERATIONS.getReport.output.omit({ next: true }) },
  { argv: ['report', '--since', '1d'], text: /^# Report [\s\S]*## Noisiest causes/ },
  { argv: ['report', 'period', '--html'], text: /^<!doctype html>/ },
  { argv: ['ledger', '-o', 'json'], json: OPERATIONS.getLedger.output },
  { argv: ['ledger', '--tenant', 'acme'], text: /acme .*\n\nNo whole look/ },
  { argv: ['audit', 'mend'], exit: 2, says: /can not 'mend'/ },
]
