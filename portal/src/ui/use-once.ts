import { useRef } from 'react'

/**
 * Makes one change at a time. The second press of a double click comes before the button is disabled, and would otherwise
 * send everything again.
 *
 * @param mutation a mutation that takes no variables
 */
export function useOnce(mutation: { mutate(variables: undefined, options: { onSettled(): void }): void }): () => void {
  const isSent = useRef(false)
  return () => {
    if (isSent.current) return
    isSent.current = true
    mutation.mutate(undefined, {
      onSettled() {
        isSent.current = false
      },
    })
  }
}
