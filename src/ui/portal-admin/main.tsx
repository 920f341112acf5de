import '../kit/styles.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { provideNonce } from '../kit/nonce.ts';
import { createQueryClient } from '../kit/queries.ts';
import { createAdminRouter } from './routes.tsx';

provideNonce();
const queryClient = createQueryClient();
const router = createAdminRouter(queryClient);

createRoot(document.querySelector('#app')!).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
