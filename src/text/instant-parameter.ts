/** The schema of an instant in the query of a list. */
import Type from 'typebox'
import { mustBe } from '../error-rules.ts'
import { instantPattern, instantRule } from './instant.ts'

/**
 * The schema of the parameter. The documented pattern cannot check whether a day exists, so our code checks it.
 * @param example ISO 8601
 */
export const instantParameter = (description: string, example: string) =>
  Type.Optional(
    Type.String({
      maxLength: 40,
      ...mustBe(instantRule.rule, instantRule.params),
      'x-documented': { pattern: instantPattern },
      description: `${description}. Write the \`+\` of \`+02:00\` as \`%2B\``,
      examples: [example],
    }),
  )
