// Checks that those who work together share one store (A17): the server that commands go to and the store of this configuration, or
// the roles on this store and those on stores beside it.

import { storeIdentity } from '@reprise/orchestrator'
import { shownAddress, storeAddress } from '../configuration/store-address.ts'
import { mismatches, otherSides, short, sideOf } from '../roles/shared-store.ts'
import { connection } from '../session.ts'
import { type Check, fail, ok } from './finding.ts'

const ADVICE = 'Give core, orchestrator and workers the same address (engine) and the same prefix (redis.prefix).'

export const shared: Check = async ({ target, resolved, host }) => {
  if (target === null || (target.kind === 'http' && resolved.values.engine === null)) return []
  const address = storeAddress(resolved)
  const shown = shownAddress(address)
  const { connectEngine } = await import('@reprise/connect')
  try {
    const opened = await connectEngine(address, { create: false })
    try {
      if (target.kind === 'http') {
        const client = await connection(target, resolved)
        const { store } = await client.info()
        await client.close()
        const own = await storeIdentity(opened.engine)
        if (store === null || store === own) return [ok('shared', `${target.url} keeps ${shown}.`)]
        const says = `${target.url} keeps another store (${short(store)}) than ${shown} (${short(own)}), which ${resolved.origins.engine.text} names.`
        return [fail('shared', says, ADVICE)]
      }
      const own = await sideOf(opened.engine, shown)
      const found = mismatches(own, await otherSides(resolved, host))
      if (found.length > 0) return found.map((says) => fail('shared', says, ADVICE))
      return own.members.length === 0 ? [] : [ok('shared', `On this store: ${own.members.join(', ')}.`)]
    } finally {
      await opened.close()
    }
  } catch {
    // The checks before tell what is wrong with the server or the store.
    return []
  }
}
