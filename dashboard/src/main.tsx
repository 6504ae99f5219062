// Before the components: their styles win over these.
import './styles/tokens.css'
import './styles/base.css'
import './styles/controls.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { queryClient } from './api/query-client'
import { sessionQuery } from './api/session'
import { router } from './app/router'

// The router shows nothing before the code of the screen is loaded: meanwhile the server says who is there.
void queryClient.prefetchQuery(sessionQuery)

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
)
