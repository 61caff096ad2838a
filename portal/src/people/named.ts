/** The query parameter that names the account of a request; empty for the person's own account. */
export type Named = { bank: string } | { merchant: string } | Record<string, never>
