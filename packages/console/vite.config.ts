// How the console is built: one folder of files with their hash in their name, and the page that loads them. What a page
// alone needs comes with that page.

import tailwind from '@tailwindcss/vite'
import { defineConfig } from 'vite'

export default defineConfig({
  plugins: [tailwind()],
  resolve: { conditions: ['reprise-source', 'module', 'browser', 'production'] },
  build: {
    target: 'es2023',
    // Asked for as they are needed: a hint for what comes next would be a script in the page.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    // The licences of what is bundled, beside it.
    license: { fileName: 'licenses.md' },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_000,
  },
  // `npm run console:dev`, beside a server of `npm start`.
  server: { proxy: { '/api': 'http://127.0.0.1:7440', '/auth': 'http://127.0.0.1:7440' } },
})
