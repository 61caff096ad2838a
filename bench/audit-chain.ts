/**
 * Writes an audit log of any size to a file, in the form of `perkline audit-log export`. The entries are chained in
 * memory, because a platform would need longer for ten million entries.
 */
import { open } from 'node:fs/promises'
import { accountHashOf, firstHead, hashOf } from '../src/audit-log/chain.ts'

const accounts = 50
const linesAtOnce = 5_000

/** @returns the size of the file in bytes */
export async function writeChain(path: string, entries: number): Promise<number> {
  const file = await open(path, 'w')
  try {
    const heads = Array.from({ length: accounts }, () => firstHead)
    let { hash } = firstHead
    for (let seq = 0; seq < entries; ) {
      let text = ''
      for (const end = Math.min(entries, seq + linesAtOnce); seq < end; ) {
        seq += 1
        const account = seq % accounts
        const before = heads[account] ?? firstHead
        const entry = entryText(seq, before.seq + 1, account)
        const accountHash = accountHashOf(before.hash, entry)
        heads[account] = { seq: before.seq + 1, hash: accountHash }
        hash = hashOf(hash, seq, accountHash)
        // The text is the same as from JSON.stringify. Building it here is faster, because JSON.stringify looks at each
        // letter of the hashes.
        text += `{"seq":${seq},"entry":${JSON.stringify(entry)},"accountHash":"${accountHash.toString('hex')}","hash":"${hash.toString('hex')}"}\n`
      }
      await file.write(text)
    }
    return (await file.stat()).size
  } finally {
    await file.close()
  }
}

/** An entry about a credential, as the log stores it. */
const entryText = (seq: number, accountSeq: number, account: number): string =>
  JSON.stringify({
    accountSeq,
    at: new Date(1_750_000_000_000 + seq).toISOString(),
    account: { type: 'bank', id: idOf(account) },
    actor: { type: 'system', id: `pk_${seq % 7}` },
    via: 'api',
    action: 'credential.issued',
    object: { type: 'credential', id: `pk_${seq}` },
    outcome: 'done',
    change: { role: [null, 'ADMIN'], label: [null, 'Core'] },
    requestId: idOf(seq),
    address: '192.0.2.1',
  })

const idOf = (number: number): string => `00000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}`
