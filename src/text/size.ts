/** Sizes of bodies and files, as texts name them. */

const kibibyte = 1024
const mebibyte = 1024 * kibibyte

/** @param bytes a multiple of 1 KiB, and from 1 MiB on of 1 MiB */
export const sizeText = (bytes: number): string =>
  bytes < mebibyte ? `${bytes / kibibyte} KiB` : `${bytes / mebibyte} MiB`
