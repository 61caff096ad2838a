/**
 * Ends the process at once. If a call on a file hangs, such as on a disk of another machine, `process.exit` would wait
 * for it forever. Then only a signal ends the process.
 */
export function endNow(exitCode: number): void {
  if (process.getActiveResourcesInfo().some(name => name.startsWith('FSReq'))) process.kill(process.pid, 'SIGKILL')
  process.exit(exitCode)
}
