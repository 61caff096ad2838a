/** Starts the portal: first what its first page needs, then the page in one go. */
import { StrictMode, startTransition } from 'react'
import { createRoot } from 'react-dom/client'
import { nextTask } from './next-task.ts'
import { Portal, queryClient, router } from './portal.tsx'
import { loadAhead } from './router.ts'

/** So long the page waits for what it shows before it comes without, with grey lines in its place. */
const patienceMs = 800

/** @param place where the portal is drawn; what is there stays until its first page takes its place */
export async function start(place: HTMLElement): Promise<void> {
  await nextTask()
  const firstReads = loadAhead(router, queryClient)
  await nextTask()
  // A failure is shown by the router's pages.
  await router.load().catch(() => {})
  await Promise.race([firstReads, new Promise(resolve => setTimeout(resolve, patienceMs))])
  // As a transition it is drawn in small steps: the browser answers clicks and keys between them.
  startTransition(() =>
    createRoot(place).render(
      <StrictMode>
        <Portal />
      </StrictMode>,
    ),
  )
}
