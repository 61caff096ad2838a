/** Writes cells of CSV files that people download, in SQL and by the rules of `csvCell`. */
import { csvPatterns } from '../text/csv-cell.ts'

const { harmless, opening, formula } = csvPatterns
const pattern = ({ source }: RegExp): string => `'${source}'`

/** Builds SQL that turns a text into its CSV cell, and null into null. @param text SQL for the text */
export const csvCellSql = (text: string): string => `
  case when ${text} ~ ${pattern(harmless)} then '"' || ${text} || '"'
    when ${text} ~ ${pattern(opening)} then '"''' || ${text} || '"'
    else '"' || replace(regexp_replace(${text}, ${pattern(formula)}, '\\1''\\2', 'g'), '"', '""') || '"' end`
