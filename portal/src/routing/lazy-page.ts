import { lazyRouteComponent } from '@tanstack/react-router'
import { part } from '../ui/not-loaded.ts'

/**
 * A page whose code is loaded when somebody opens it. If the code cannot be loaded, our own page with "Try again" is
 * shown (error-pages.tsx). The router by itself would reload the page, which without a connection ends on the browser's
 * error page.
 */
export const lazyPage = <Module extends Record<string, unknown>, Name extends keyof Module>(
  load: () => Promise<Module>,
  name: Name,
) => lazyRouteComponent<Module, Name>(() => part(load()), name)
