// What can stand in a file of policies, for completion: fields with a few words each, and the values of those that choose. The
// server checks the text all the same; a test keeps these names equal to those that it knows.

import {
  BACKOFF_KINDS,
  FINAL_REASONS,
  LOST_MEANINGS,
  RETRIABLE_REASONS,
  SEVERITIES,
  WORK_ORDER_PER,
} from '@reprise/core'

export interface Field {
  readonly hint: string
  readonly values?: readonly string[]
  /** What stands inside it, or in each of its items. */
  readonly fields?: Fields
}
export type Fields = Readonly<Record<string, Field>>

const FLAG = ['true', 'false']
const REASONS = [...RETRIABLE_REASONS, ...FINAL_REASONS]

const VERDICT: Fields = {
  reason: { hint: 'the reason', values: REASONS },
  retriable: { hint: 'if not as the reason says', values: FLAG },
}

const RULE: Fields = {
  name: { hint: 'shown in the record' },
  when: {
    hint: 'all of it must hold',
    fields: {
      code: { hint: 'names with *' },
      status: { hint: '503, 5xx, 520-524' },
      message: { hint: 'a pattern' },
      name: { hint: 'the class of what was thrown' },
      reason: { hint: 'what the built-in rules say', values: REASONS },
    },
  },
  // biome-ignore lint/suspicious/noThenProperty: the field is called so in the file
  then: { hint: 'what it is', fields: VERDICT }, // oxlint-disable-line unicorn/no-thenable
}

const BACKOFF: Fields = {
  kind: { hint: 'how delays grow', values: BACKOFF_KINDS },
  base: { hint: 'the first delay: 1s' },
  multiplier: { hint: 'each delay times this' },
  max: { hint: 'the longest delay: 5m' },
  jitter: { hint: 'a share: 0.2' },
  delay: { hint: 'of fixed: 10s' },
  step: { hint: 'of linear: 10s' },
  delays: { hint: 'of schedule: [1m, 5m]' },
}

const POLICY: Fields = {
  name: { hint: 'shown in every decision' },
  match: {
    hint: 'what it is about; everything if missing',
    fields: {
      actions: { hint: 'names with *' },
      packs: { hint: 'names with *' },
      tenants: { hint: 'names with *' },
      codes: { hint: 'codes of failures, with *' },
    },
  },
  template: { hint: 'where to start from', values: ['default', 'patient', 'urgent', 'never'] },
  retries: { hint: 'automatic retries: 0 to 1000' },
  retries_enabled: { hint: 'false switches them off', values: FLAG },
  max_losses: { hint: 'workers it may lose: 0 to 1000' },
  backoff: { hint: 'how long to wait', fields: BACKOFF },
  retry_unknown: { hint: 'also what no rule knows', values: FLAG },
  rules: { hint: 'tried before those of the file', fields: RULE },
  sla: { hint: 'no attempt starts later: 8h' },
  quota: {
    hint: 'a limit on retries',
    fields: {
      window: { hint: '1s to 24h' },
      name: { hint: 'quotas of one name are one' },
      limit: { hint: 'retries in a window' },
      share: { hint: 'of the attempts: 0.1' },
      all_tenants: { hint: 'whether all share it', values: FLAG },
    },
  },
  breaker: {
    hint: 'on, off, or its settings',
    values: ['on', 'off'],
    fields: {
      window: { hint: 'older outcomes are forgotten' },
      min_failures: { hint: 'fewer never open it' },
      failure_rate: { hint: 'the share that must fail' },
      open: { hint: 'how long at first: 5s' },
      max_open: { hint: 'how long at the most: 5m' },
      probes: { hint: 'attempts that try' },
      max_ramp: { hint: 'how far it doubles' },
    },
  },
  on_lost: { hint: 'what a lost attempt means', values: LOST_MEANINGS },
  health_aware: { hint: 'false: also unwell workers', values: FLAG },
  retry_after: {
    hint: 'how long a service may make us wait',
    fields: { min: { hint: '0s to 24h' }, max: { hint: '0s to 24h' } },
  },
  escalation: {
    hint: 'goes with its dead letters',
    fields: {
      severity: { hint: 'how bad it is', values: SEVERITIES },
      owner: { hint: 'a person or a team' },
      runbook: { hint: 'the name of a runbook' },
      work_order: { hint: 'one per group or per task', values: WORK_ORDER_PER },
    },
  },
}

/** Any name stands for it: the key of a map by tenant. */
export const ANY = '*'

export const POLICY_FILE: Fields = {
  policies: { hint: 'the first that matches counts', fields: POLICY },
  rules: { hint: 'for every failure', fields: RULE },
  tenants: {
    hint: 'how much each may have',
    fields: {
      [ANY]: {
        hint: 'a tenant, or default',
        fields: {
          bytes: { hint: '500MB, or none' },
          backlog: { hint: 'tasks that have not ended' },
          submits_per_second: { hint: 'a number, or none' },
          running: { hint: 'a number, 80%, or none' },
        },
      },
    },
  },
  owners: {
    hint: 'who is responsible',
    fields: {
      owner: { hint: 'a person or a team' },
      match: {
        hint: 'what it is about',
        fields: { actions: { hint: 'names with *' }, tenants: { hint: 'names with *' }, codes: { hint: 'with *' } },
      },
      remind: { hint: '[1d, 3d]' },
    },
  },
  remind: { hint: 'when groups that wait are told of: [1d, 3d, 7d]' },
}
