import { Button, Group, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTexts } from '../../i18n/preferences.tsx'
import classes from './campaign-form.module.css'
import { formTexts } from './form-texts.ts'

/**
 * The buttons of the form, always visible at the bottom of the screen.
 *
 * @param props.errors the number of fields with a message
 * @param props.cancel the way to leave without saving
 */
export function SaveBar(props: { submit: string; isSaving: boolean; errors: number; cancel: ReactNode }) {
  const { submit, isSaving, errors, cancel } = props
  const texts = useTexts(formTexts)
  return (
    <div className={classes.bar}>
      <Group gap="sm">
        <Button type="submit" loading={isSaving}>
          {submit}
        </Button>
        {cancel}
        <Text
          size="sm"
          role="status"
          c={errors > 0 ? 'var(--mantine-color-error)' : 'dimmed'}
          className={classes.told ?? ''}
        >
          {errors > 0 ? texts.errors(errors) : texts.kept}
        </Text>
      </Group>
    </div>
  )
}
