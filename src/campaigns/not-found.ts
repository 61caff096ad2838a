/** The error for a campaign that the caller may not see. */
import { DomainError } from '../errors.ts'

/**
 * The error has the same message for every campaign that a bank may not see, whatever the reason
 * (contract/campaigns.md, "Who decides when").
 */
export const campaignNotFound = (code: 'invalid' | 'not-found'): DomainError =>
  new DomainError(code, 'The campaign was not found')
