/** Sales that are not on a statement yet. */
import type { statementTexts } from './texts.ts'

type Texts = (typeof statementTexts)['en']

/** Whether an order is sold but not on a statement yet. The statement is made after the day of the sale ends. */
export const isAwaited = ({ status, statement }: { status: string; statement: unknown }): boolean =>
  status === 'confirmed' && !statement

/**
 * Says when the order gets its statement.
 * @param timeZone the zone of the bank's statements; undefined while it is unknown
 */
export const followsText = (texts: Pick<Texts, 'follows' | 'followsIn'>, timeZone: string | undefined): string =>
  timeZone === undefined ? texts.follows : texts.followsIn(timeZone)
