// Alerts, their rules, silences and channels in a store: where they are, and which rules count.

import { isRepriseError } from '../model/errors.ts'
import type { Collection } from '../port/collection.ts'
import type { Records } from '../port/engine.ts'
import { stepOrInsertTold, stepTold, untoldIndex } from '../port/told-documents.ts'
import { type Alert, isUnfinished } from './alert.ts'
import type { Channel } from './channel.ts'
import { type AlertRule, READY_RULES, type StoredRule } from './rule.ts'
import type { Silence } from './silence.ts'

type Store = Pick<Records, 'collection' | 'journal'>
type Collections = Pick<Records, 'collection'>

export const alertsIn = (engine: Collections): Collection<Alert> =>
  engine.collection<Alert>({
    name: 'alerts',
    indexes: {
      status: ({ state }) => state.status,
      live: ({ state }) => (state.status === 'resolved' ? null : 'yes'),
      unfinished: (one) => (isUnfinished(one) ? 'yes' : null),
      untold: untoldIndex,
    },
  })

export const alertRulesIn = (engine: Collections): Collection<StoredRule> =>
  engine.collection<StoredRule>({ name: 'alert-rules', indexes: {} })

export const silencesIn = (engine: Collections): Collection<Silence> =>
  engine.collection<Silence>({ name: 'alert-silences', indexes: {} })

export const channelsIn = (engine: Collections): Collection<Channel> =>
  engine.collection<Channel>({ name: 'channels', indexes: {} })

/** Bounds: all of each are read at once, every few seconds. */
export const RULES_MAX = 200
export const SILENCES_MAX = 500
export const CHANNELS_MAX = 50

/** A rule, and where it comes from. */
export type KnownRule = Omit<StoredRule, 'source'> & { readonly source: StoredRule['source'] | 'ready' }

/** Every rule, by name: those of the store, and the ready-made ones that none of the store replaces. */
export async function alertRules(engine: Collections): Promise<readonly KnownRule[]> {
  const { items } = await alertRulesIn(engine).list({ limit: RULES_MAX * 2 })
  const ready = READY_RULES.map((rule) => ({ ...rule, id: rule.name, updatedBy: 'reprise', source: 'ready' as const }))
  const rules = new Map<string, KnownRule>(ready.map((rule) => [rule.id, rule]))
  for (const { document } of items) rules.set(document.id, document)
  return [...rules.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** Takes a step of an alert, and tells of it. Null if `next` gave null, or there is no such alert. */
export const stepAlert = (engine: Store, id: string, next: (one: Alert) => Alert | null): Promise<Alert | null> =>
  stepTold(engine.journal, alertsIn(engine), id, next)

/** As `stepAlert`; it is made from `first` if there is none. */
export const stepOrMakeAlert = (
  engine: Store,
  first: Alert,
  next: (one: Alert) => Alert | null,
): Promise<Alert | null> => stepOrInsertTold(engine.journal, alertsIn(engine), first, next)

/** Puts a rule into the store, over the one of that name. */
export async function putAlertRule(engine: Collections, rule: StoredRule): Promise<StoredRule> {
  const rules = alertRulesIn(engine)
  for (;;) {
    const known = await rules.get(rule.id)
    try {
      return (known === null ? await rules.insert(rule) : await rules.update(rule, known.version)).document
    } catch (error) {
      if (!isRepriseError(error, 'REPRISE_CONFLICT') && !isRepriseError(error, 'REPRISE_NOT_FOUND')) throw error
    }
  }
}

/** The rules of the configuration, and no others that came from there. Those of the API stay, unless one has the same name. */
export async function configureAlertRules(engine: Collections, configured: readonly AlertRule[]): Promise<void> {
  const { items } = await alertRulesIn(engine).list({ limit: RULES_MAX * 2 })
  const stored = new Map(items.map(({ document }) => [document.id, document]))
  for (const rule of configured) {
    const wanted: StoredRule = { ...rule, id: rule.name, source: 'configuration', updatedBy: 'configuration' }
    if (JSON.stringify(stored.get(rule.name)) !== JSON.stringify(wanted)) await putAlertRule(engine, wanted)
  }
  const names = new Set(configured.map(({ name }) => name))
  for (const { id, source } of stored.values()) {
    if (source === 'configuration' && !names.has(id)) await alertRulesIn(engine).remove(id)
  }
}
