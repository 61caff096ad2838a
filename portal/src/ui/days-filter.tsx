import { Input, InputBase } from '@mantine/core'
import { IconCalendar } from '@tabler/icons-react'
import { type ComponentProps, lazy, Suspense, useEffect, useState } from 'react'
import type { DaysInput } from './dates.tsx'
import { part } from './not-loaded.ts'

const Days = lazy(() => part(import('./dates.tsx')).then(({ DaysInput }) => ({ default: DaysInput })))

type Props = ComponentProps<typeof DaysInput>

/**
 * Filters a list by its first and last day. The calendar's code is loaded after the page is painted; until then a
 * similar field is shown.
 */
export function DaysFilter(props: Props) {
  const [isPainted, setIsPainted] = useState(false)
  useEffect(() => {
    const frame = requestAnimationFrame(() => setTimeout(() => setIsPainted(true)))
    return () => cancelAnimationFrame(frame)
  }, [])
  const placeholder = <Placeholder {...props} />
  return isPainted ? (
    <Suspense fallback={placeholder}>
      <Days {...props} />
    </Suspense>
  ) : (
    placeholder
  )
}

function Placeholder({ label, 'aria-label': name, placeholder }: Props) {
  return (
    <InputBase
      component="button"
      type="button"
      pointer
      aria-busy
      label={label}
      aria-label={name}
      leftSection={<IconCalendar size={16} aria-hidden />}
    >
      <Input.Placeholder>{placeholder}</Input.Placeholder>
    </InputBase>
  )
}
