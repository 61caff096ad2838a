/** Writes the sizes of bodies and files for people, such as `16 MiB`. */

const kibibyte = 1024
const mebibyte = 1024 * kibibyte

/** @param bytes below 1 MiB a multiple of 1 KiB; otherwise a multiple of 1 MiB */
export const sizeText = (bytes: number): string =>
  bytes < mebibyte ? `${bytes / kibibyte} KiB` : `${bytes / mebibyte} MiB`
