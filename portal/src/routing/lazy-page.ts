import { lazyRouteComponent } from '@tanstack/react-router'
import { part } from '../ui/not-loaded.ts'

/**
 * A page whose code loads when somebody goes there. Without its code there is a page of ours with "Try again" (fault-pages.tsx); the
 * router would reload the page, which without a connection ends on the browser's own error page.
 */
export const lazyPage = <Module extends Record<string, unknown>, Name extends keyof Module>(
  load: () => Promise<Module>,
  name: Name,
) => lazyRouteComponent<Module, Name>(() => part(load()), name)
