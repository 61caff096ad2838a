import { Card, Stack, Title } from '@mantine/core'
import { type ReactNode, useId } from 'react'
import type { FormPart } from './fields.ts'
import type { EditableField } from './values.ts'

/**
 * Fields that belong together, under one heading.
 *
 * @param props.fields without one that may be changed the section is left out
 */
export function FormSection(props: {
  title: string
  isOpen: FormPart['isOpen']
  fields: readonly EditableField[]
  children: ReactNode
}) {
  const { title, isOpen, fields, children } = props
  const heading = useId()
  if (!fields.some(isOpen)) return null
  return (
    <Card component="section" aria-labelledby={heading}>
      <Title order={2} id={heading} mb="md">
        {title}
      </Title>
      <Stack gap="md">{children}</Stack>
    </Card>
  )
}
