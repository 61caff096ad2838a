/** Apart from `use-upload.ts`, because the first script of the portal must stay small. */

/** The number of uploads on this page that the person must not lose without a question. */
let running = 0

/** @returns a function to call when the upload has ended */
export function countUpload(): () => void {
  running++
  return () => {
    running--
  }
}

/** Whether leaving the page would stop an upload. */
export const isUploading = (): boolean => running > 0
