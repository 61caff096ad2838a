/** Counts the characters of a text with a maximum length. Its field shows how many are left or too many. */
import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTexts } from '../i18n/preferences.tsx'
import { lengthOf } from './text-length.ts'
import { uiTexts } from './texts.ts'

/** @returns a function that makes the description (hint and count) and the error of the text's field */
export function useCountedText() {
  const { characters } = useTexts(uiTexts)
  return (text: string, maxLength: number, { hint, error }: { hint?: string | undefined; error?: ReactNode } = {}) => {
    const left = maxLength - lengthOf(text)
    const isOver = left < 0
    const count = isOver ? characters.over(-left) : characters.left(left)
    const description = hint === undefined ? count : `${hint} ${count}.`
    return {
      description: isOver ? (
        <Text span inherit c="var(--mantine-color-error)">
          {description}
        </Text>
      ) : (
        description
      ),
      error: isOver || error,
    }
  }
}
