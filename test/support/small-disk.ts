/** A file system that is small enough to be filled: a tmpfs, which root may mount on some machines. */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmdirSync } from 'node:fs'
import { open, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

export type SmallDisk = {
  folder: string
  /** Fills the disk until `makeRoom` is called. It also takes space that others free meanwhile. */
  fill(): Promise<void>
  /** Frees the space that `fill` has taken. */
  makeRoom(): Promise<void>
  /** Unmounts the disk, which deletes its files. No program may have one of them open. */
  close(): Promise<void>
}

const refillMs = 100
const piece = Buffer.alloc(1024 * 1024)

/** @returns null where mounting is not allowed: the test is then marked as skipped and must end */
export function openSmallDisk(t: TestContext, megabytes: number): SmallDisk | null {
  const folder = mkdtempSync(join(tmpdir(), 'perkline-disk-'))
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder], { encoding: 'utf8' })
  if (mounted.status !== 0) {
    rmdirSync(folder)
    const reason = `NO FULL DISK WAS TRIED: nothing may be mounted here (${mounted.stderr?.trim() || mounted.error?.message})`
    console.error(`\n*** ${reason} ***\n`)
    t.skip(reason)
    return null
  }
  // Other users need access, because the database server does not run as root.
  chmodSync(folder, 0o711)
  const ballast = join(folder, 'ballast')
  let isFull = false
  let filling = Promise.resolve()
  const makeRoom = async () => {
    isFull = false
    await filling
    await rm(ballast, { force: true })
  }
  return {
    folder,
    async fill() {
      isFull = true
      await takeAll(folder, ballast)
      filling = (async () => {
        while (isFull) {
          await sleep(refillMs)
          await takeAll(folder, ballast)
        }
      })()
    },
    makeRoom,
    async close() {
      await makeRoom()
      spawnSync('umount', ['--lazy', folder])
      rmdirSync(folder)
    },
  }
}

async function takeAll(folder: string, ballast: string): Promise<void> {
  await using file = await open(ballast, 'a')
  for (;;) {
    const { bavail, bsize } = await statfs(folder)
    const bytes = Math.min(bavail * bsize, piece.length)
    if (bytes === 0) return
    try {
      await file.write(piece, 0, bytes)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      return
    }
  }
}
