/** Reads a file of customers before it is sent. */

const lineFeed = 0x0a
const space = 0x20

/**
 * Counts the lines below the header that are not blank. The platform later checks whether they are ids. Only one piece
 * of the file is in memory at a time, so a large file needs little memory.
 *
 * @param file CSV with one id a line
 */
export async function countIds(file: Blob): Promise<number> {
  let count = 0
  let isHeader = true
  let isBlank = true
  const endLine = () => {
    if (!isHeader && !isBlank) count++
    isHeader = false
    isBlank = true
  }
  const reader = file.stream().getReader()
  for (let piece = await reader.read(); piece.value; piece = await reader.read())
    for (const byte of piece.value) {
      if (byte === lineFeed) endLine()
      // Spaces and control characters, such as the carriage return, are no id.
      else if (byte > space) isBlank = false
    }
  endLine()
  return count
}
