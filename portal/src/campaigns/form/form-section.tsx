import { Card, Stack, Title } from '@mantine/core'
import { type ReactNode, useId } from 'react'
import classes from './campaign-form.module.css'
import type { FormPart } from './fields.ts'
import { type SectionName, sectionId } from './sections.ts'
import type { EditableField } from './values.ts'

/**
 * A group of fields under one heading.
 *
 * @param props.fields the fields of the group. If none of them may be changed, the group is not shown
 */
export function FormSection(props: {
  name: SectionName
  title: string
  isOpen: FormPart['isOpen']
  fields: readonly EditableField[]
  children: ReactNode
}) {
  const { name, title, isOpen, fields, children } = props
  const heading = useId()
  if (!fields.some(isOpen)) return null
  return (
    <Card component="section" id={sectionId(name)} aria-labelledby={heading} className={classes.section ?? ''}>
      <Title order={2} id={heading} mb="md" tabIndex={-1} className={classes.heading ?? ''}>
        {title}
      </Title>
      <Stack gap="md">{children}</Stack>
    </Card>
  )
}
