import { Button, Center } from '@mantine/core'
import type { useShownPages } from './use-shown-pages.ts'

type Props = Pick<ReturnType<typeof useShownPages>, 'hasMore' | 'isComing' | 'showMore'> & { children: string }

/** The button below a list that shows its next page, if there is one. */
export function ShowMore({ hasMore, isComing, showMore, children }: Props) {
  if (!hasMore) return null
  return (
    <Center mt="md">
      <Button variant="default" loading={isComing} onClick={showMore}>
        {children}
      </Button>
    </Center>
  )
}
