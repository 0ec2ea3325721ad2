// What `npm run console:size` runs: how much the browser has to load, compressed, and how soon it shows something. Exit code 1 if
// more than it may be.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { hasBrowser, launch, signIn, sit } from '../browser.ts'
import { haveBadDeploy, openShop } from '../shop.ts'

const KB = 1_024
const FIRST_MAX = 150 * KB
const ALL_MAX = 450 * KB

const folder = fileURLToPath(new URL('../../dist', import.meta.url))
const sizeOf = (name: string): number => gzipSync(readFileSync(join(folder, name)), { level: 9 }).length
const kilobytes = (bytes: number): string => `${(bytes / KB).toFixed(1)} KB`.padStart(9)
const tell = (line: string): void => void process.stdout.write(`${line}\n`)

const assets = readdirSync(join(folder, 'assets')).filter((name) => /\.(?:js|css)$/.test(name))
const sizes = new Map(assets.map((name) => [`assets/${name}`, sizeOf(`assets/${name}`)]))
const all = [...sizes.values()].reduce((sum, size) => sum + size, sizeOf('index.html'))
for (const [name, size] of [...sizes].sort(([, one], [, other]) => other - one)) tell(`${kilobytes(size)}  ${name}`)

let first = all
if (hasBrowser) {
  const shop = await openShop()
  const browser = await launch()
  try {
    await haveBadDeploy(shop)
    const seat = await sit(browser, shop.url)
    await signIn(seat, await shop.link())
    const loaded = new Set<string>()
    seat.page.on('request', (request) => loaded.add(new URL(request.url()).pathname.slice(1)))
    await seat.page.goto(shop.url, { waitUntil: 'networkidle' }).catch(() => undefined)
    await seat.page.getByText('✓ adds up').waitFor()
    first = [...loaded].reduce((sum, name) => sum + (sizes.get(name) ?? 0), sizeOf('index.html'))
    const paint = await seat.page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime)
    tell(`\nFirst contentful paint of Now, on this machine, nothing cached: ${Math.round(paint ?? 0)} ms`)
  } finally {
    await browser.close()
    await shop.close()
  }
} else tell('\nNo Chromium here: the first load is taken to be everything.')

tell(`First load of Now: ${kilobytes(first)} of ${kilobytes(FIRST_MAX)}`)
tell(`Everything:        ${kilobytes(all)} of ${kilobytes(ALL_MAX)}`)
if (first > FIRST_MAX || all > ALL_MAX) {
  tell('Too large.')
  process.exitCode = 1
}
