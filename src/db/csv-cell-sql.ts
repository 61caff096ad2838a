/** SQL that writes one text of a CSV file that people download, by the rules of `csvCell`. */
import { csvPatterns } from '../text/csv-cell.ts'

const { harmless, opening, formula } = csvPatterns
const pattern = ({ source }: RegExp): string => `'${source}'`

/** @param text SQL for a text @returns SQL for its cell; null for null */
export const csvCellSql = (text: string): string => `
  case when ${text} ~ ${pattern(harmless)} then '"' || ${text} || '"'
    when ${text} ~ ${pattern(opening)} then '"''' || ${text} || '"'
    else '"' || replace(regexp_replace(${text}, ${pattern(formula)}, '\\1''\\2', 'g'), '"', '""') || '"' end`
