// Where the console starts in a browser: theme, queries, and the shell with its pages.

import './styles.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { queries } from './api/operations.ts'
import { applyTheme } from './preferences.ts'
import { Shell } from './shell/shell.tsx'

applyTheme()

const root = document.getElementById('root')
if (root === null) throw new Error('The page has no root.')
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <Shell />
    </QueryClientProvider>
  </StrictMode>,
)
