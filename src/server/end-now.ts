/**
 * Ends the process at once. If a call on a file hangs, for example on a network disk, `process.exit` would wait for it
 * forever. In that case only a signal ends the process.
 */
export function endNow(exitCode: number): void {
  if (process.getActiveResourcesInfo().some(name => name.startsWith('FSReq'))) process.kill(process.pid, 'SIGKILL')
  process.exit(exitCode)
}
