import { Card, Stack, Title } from '@mantine/core'
import { type ReactNode, useId } from 'react'

/** Fields that belong together, under one heading. */
export function FormSection({ title, children }: { title: string; children: ReactNode }) {
  const heading = useId()
  return (
    <Card component="section" aria-labelledby={heading}>
      <Title order={2} id={heading} mb="md">
        {title}
      </Title>
      <Stack gap="md">{children}</Stack>
    </Card>
  )
}
