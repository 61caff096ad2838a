import { IconAlertCircle, IconCircleCheck, IconCircleDashed } from '@tabler/icons-react'
import type { MouseEvent } from 'react'
import { useTexts } from '../../i18n/preferences.tsx'
import classes from './campaign-form.module.css'
import { formTexts } from './form-texts.ts'
import { type SectionName, type SectionState, sectionId } from './sections.ts'

/** Links to the sections of the form, each with its state. */
export function FormNavigation({ sections }: { sections: readonly { name: SectionName; state: SectionState }[] }) {
  const texts = useTexts(formTexts)
  return (
    <nav className={classes.navigation} aria-label={texts.navigation}>
      <ul>
        {sections.map(({ name, state }) => {
          const Mark = marks[state]
          const title = name === 'retailer' ? texts.byBank.retailer : texts.sections[name]
          return (
            <li key={name}>
              <a
                href={`#${sectionId(name)}`}
                onClick={event => jump(event, name)}
                data-state={state}
                aria-label={`${title}, ${texts.sectionState[state]}`}
              >
                <Mark size={17} aria-hidden />
                {title}
              </a>
            </li>
          )
        })}
      </ul>
    </nav>
  )
}

const marks = { error: IconAlertCircle, todo: IconCircleDashed, done: IconCircleCheck }

/** Jumps to a section. The address does not change, so that the Back button leads to the page before the form. */
function jump(event: MouseEvent, name: SectionName): void {
  event.preventDefault()
  const section = document.getElementById(sectionId(name))
  section?.scrollIntoView({ block: 'start' })
  section?.querySelector<HTMLElement>('h2')?.focus({ preventScroll: true })
}
