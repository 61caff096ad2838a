import { VisuallyHidden } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import type { CSSProperties } from 'react'
import { useTexts } from '../i18n/preferences.tsx'
import classes from './life-line.module.css'
import { uiTexts } from './texts.ts'

export type LifeStep = {
  key: string
  label: string
  /** A short text below the label, such as the day on which the period starts. */
  note?: string | null
  state: 'done' | 'current' | 'next' | 'bad'
}

/**
 * Draws a life cycle as a line of states.
 *
 * @param props.today the progress from the current state to the next one, 0 to 1; null if it is not known when the current
 *   state ends
 */
export function LifeLine({ steps, today, label }: { steps: readonly LifeStep[]; today: number | null; label: string }) {
  const texts = useTexts(uiTexts)
  return (
    <div className={classes.frame}>
      <ol className={classes.line} aria-label={label} data-dated={today !== null || undefined}>
        {steps.map(({ key, label: name, note, state }) => (
          <li
            key={key}
            className={classes.step}
            data-state={state}
            aria-current={state === 'current' ? 'step' : undefined}
          >
            <span className={classes.dot}>{state === 'done' && <IconCheck size={12} stroke={3} aria-hidden />}</span>
            {state === 'current' && today !== null && (
              <span
                className={classes.today}
                style={{ '--share': Math.min(0.85, Math.max(0.15, today)) } as CSSProperties}
              >
                {texts.today}
              </span>
            )}
            <span className={classes.name}>{name}</span>
            {note && <span className={classes.note}>{note}</span>}
            {state === 'done' && <VisuallyHidden>✓</VisuallyHidden>}
          </li>
        ))}
      </ol>
    </div>
  )
}
