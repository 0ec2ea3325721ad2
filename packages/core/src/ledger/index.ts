// The door of this room: the ledger's documents and sums.

export {
  addedSums,
  differenceOf,
  type LedgerDifference,
  type LedgerSums,
  type LedgerWalk,
  ledgerDifferences,
  ledgerSums,
  ledgerWalks,
  WALK_ID,
} from './ledger.ts'
