import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { applyTheme } from './part/theme.tsx';
import { makeRouter } from './router.tsx';
import { followConnection, makeWorkbench, WorkbenchContext } from './workbench.ts';

applyTheme();
const place = document.getElementById('root');
if (!place) throw new Error('the page has no element for the workbench');
const workbench = makeWorkbench();
followConnection(workbench);
createRoot(place).render(
  <WorkbenchContext value={workbench}>
    <QueryClientProvider client={workbench.queries}>
      <RouterProvider router={makeRouter()} />
    </QueryClientProvider>
  </WorkbenchContext>,
);
