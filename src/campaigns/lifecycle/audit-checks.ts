/** The audit's checks of campaigns, their banks, history, reports and segments. `audit-steps.ts` finds violations. */
import type { Check } from '../../db/check.ts'

export const campaignChecks: readonly Check[] = [
  {
    code: 'campaign-states',
    name: 'every campaign and each of its banks has a known status',
    holds: 'campaigns, their banks and their reporting are in states that the rules know',
  },
  {
    code: 'launched-campaigns',
    name: 'every launched campaign has an approved bank and no pending one',
    holds: 'nobody offers what no bank has agreed to',
  },
  {
    code: 'bank-parts',
    name: 'every bank’s part fits its campaign',
    holds: 'reporting begins with the end of the period, for approved banks, and is settled before anything is paid',
  },
  {
    code: 'campaign-turns',
    name: 'campaigns that wait for the merchant are marked',
    holds: 'home pages show first what waits for the merchant',
  },
  {
    code: 'campaign-counts',
    name: 'the counts of campaigns by status are right',
    holds: 'each merchant and bank sees how many of its campaigns are in which status',
  },
  {
    code: 'history-moves',
    name: 'the history has only allowed transitions',
    holds: 'each entry is a transition of the rules, or an edit or a segment, which change no status',
  },
  {
    code: 'history-gaps',
    name: 'history has no gaps',
    holds: 'each entry begins where the one before it ended',
  },
  {
    code: 'history-present',
    name: 'history leads to the present states',
    holds: 'the last entry of each campaign, bank and reporting is its state',
  },
  {
    code: 'report-counts',
    name: 'the counts of reports are right',
    holds: 'each bank has as many reports of each side as its part states, numbered from 1',
  },
  {
    code: 'campaign-texts',
    name: 'the stored answers about campaigns agree with their columns',
    holds: 'card, terminals, states and each bank’s part are as the columns say, and so are the terminals of merchants',
  },
  {
    code: 'segment-counts',
    name: 'every segment has as many customers as it says',
    holds: 'counts and lists agree, and every customer belongs to a bank that exists and counts it',
  },
]
