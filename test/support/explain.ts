/** Looks at the plans of statements while they run. */
import type { Queryable } from '../../src/db/database.ts'

/** What tests read of a node of a plan. */
type Plan = {
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Sort Space Used'?: number
  'Sort Key'?: string[]
  Plans?: Plan[]
}

/** A database that also explains each statement. @param onNode gets every node of the plans, with its actual figures */
export function explaining(database: Queryable, onNode: (node: Plan) => void): Queryable {
  const walk = (node: Plan): void => {
    onNode(node)
    node.Plans?.forEach(walk)
  }
  return {
    ...database,
    async query(statement, values) {
      const text = typeof statement === 'string' ? statement : statement.text
      const [row] = await database.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(
        `explain (analyze, format json) ${text}`,
        values,
      )
      for (const { Plan } of row?.['QUERY PLAN'] ?? []) walk(Plan)
      return database.query(statement, values)
    },
  }
}
