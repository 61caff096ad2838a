/** Whether the page is being printed. */
import { useSyncExternalStore } from 'react'

const paper = matchMedia('print')
/** Firefox prints a copy of the page, and the page itself never becomes one for print. But it reports the begin and the end. */
let isBegun = false

export const isPrinting = (): boolean => isBegun || paper.matches

/**
 * Calls `changed` before the page is printed and afterwards, perhaps more than once.
 *
 * @returns stops the calls
 */
export function onPrintingChange(changed: () => void): () => void {
  const begin = () => {
    isBegun = true
    changed()
  }
  const end = () => {
    isBegun = false
    changed()
  }
  addEventListener('beforeprint', begin)
  addEventListener('afterprint', end)
  paper.addEventListener('change', changed)
  return () => {
    removeEventListener('beforeprint', begin)
    removeEventListener('afterprint', end)
    paper.removeEventListener('change', changed)
  }
}

export const usePrinting = (): boolean => useSyncExternalStore(onPrintingChange, isPrinting)
