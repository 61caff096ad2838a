import { useRef } from 'react'

/**
 * Makes one change at a time. Without this, a double click would send the change twice, because its second press comes before
 * the button is disabled.
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
