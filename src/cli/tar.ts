/** Writes a tar archive of a few small files (POSIX ustar), so that the machine needs no tar program. */

const blockBytes = 512

/**
 * Returns the archive.
 *
 * @param files each with its content and a name of at most 100 ASCII characters
 * @param at the modification time of the files
 */
export function tarOf(files: readonly { name: string; content: Buffer }[], at: Date): Buffer {
  const parts = files.flatMap(({ name, content }) => [
    header(name, content.length, at),
    content,
    Buffer.alloc((blockBytes - (content.length % blockBytes)) % blockBytes),
  ])
  return Buffer.concat([...parts, Buffer.alloc(2 * blockBytes)])
}

function header(name: string, bytes: number, at: Date): Buffer {
  const block = Buffer.alloc(blockBytes)
  const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0')
  block.write(name, 0)
  block.write(octal(0o600, 7), 100)
  block.write(octal(0, 7), 108)
  block.write(octal(0, 7), 116)
  block.write(octal(bytes, 11), 124)
  block.write(octal(Math.floor(at.getTime() / 1_000), 11), 136)
  // The format wants the checksum's own field to be filled with spaces while the checksum is computed.
  block.write('        ', 148)
  block.write('0', 156)
  block.write('ustar\u000000', 257)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${octal(sum, 6)}\u0000 `, 148)
  return block
}
