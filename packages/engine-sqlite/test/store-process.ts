// A process of its own on a store, for tests that need more than one: node store-process.ts <file> <command> [argument].
// It prints one line per step.

import { succeeded } from '@reprise/core'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { claimer, specs } from './fixture-process.ts'

const [path = '', command = '', argument = ''] = process.argv.slice(2)
const engine = await openSqliteEngine({ path, durability: 'fast' })
const say = (text: string): void => void process.stdout.write(`${text}\n`)

switch (command) {
  case 'open':
    say('open')
    break
  case 'submit':
    for (let batch = 0; batch < 20; batch++) await engine.submit(specs(50, `${argument}-${batch}`))
    say('submitted')
    break
  case 'drain': {
    const request = await claimer(engine, argument, 20)
    let { claimed } = await engine.claim(request)
    while (claimed.length > 0) {
      for (const { taskId } of claimed) say(taskId)
      ;({ claimed } = await engine.settleAndClaim(
        claimed.map((lease) => succeeded(lease, null)),
        request,
      ))
    }
    break
  }
  case 'witness':
    await engine.submit(specs(50, argument))
    await engine.setbacks()
    say('looked')
    await new Promise((resolve) => setTimeout(resolve, 60_000))
    break
  case 'wait': {
    const request = await claimer(engine, argument, 1)
    const since = engine.mark()
    say('waiting')
    await engine.wait({ pools: request.pools, since }, 60_000)
    const { claimed } = await engine.claim(request)
    say(claimed.map(({ taskId }) => taskId).join())
    break
  }
  case 'churn': {
    // Until it is killed: every kind of write, as fast as it goes.
    const request = await claimer(engine, argument, 20)
    say('churning')
    for (let round = 0; ; round++) {
      await engine.submit(specs(30, `${argument}-${round}`))
      const { claimed } = await engine.claim(request)
      await engine.settle(claimed.map((lease) => succeeded(lease, null)))
    }
  }
  default:
    throw new Error(`Unknown command '${command}'.`)
}
await engine.close()
