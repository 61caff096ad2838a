/** Starts the portal: first loads what the first page needs, then draws the page at once. */
import { StrictMode, startTransition } from 'react'
import { createRoot } from 'react-dom/client'
import { removeExpiredDrafts } from '../session/draft-store.ts'
import { nextTask } from './next-task.ts'
import { Portal, queryClient, router } from './portal.tsx'
import { loadAhead } from './router.ts'

/** The maximum time to wait for the page's data; after it the page is drawn with grey placeholder lines. */
const patienceMs = 800

/** @param place where the portal is drawn; the existing content stays until the first page replaces it */
export async function start(place: HTMLElement): Promise<void> {
  await nextTask()
  const firstReads = loadAhead(router, queryClient)
  await nextTask()
  // If loading fails, the page that the router shows reports the error, so the error is ignored here.
  await router.load().catch(() => {})
  await Promise.race([firstReads, new Promise(resolve => setTimeout(resolve, patienceMs))])
  // A transition draws in small steps, so that the browser can handle clicks and keys in between.
  startTransition(() =>
    createRoot(place).render(
      <StrictMode>
        <Portal />
      </StrictMode>,
    ),
  )
  void removeExpiredDrafts()
}
