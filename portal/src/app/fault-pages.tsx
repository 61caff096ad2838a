/** What stands in a page's place when it cannot be shown. */
import { Container } from '@mantine/core'
import type { ErrorComponentProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { isApiError } from '../api/errors.ts'
import { useTexts } from '../i18n/preferences.tsx'
import { LinkButton } from '../ui/links.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { Failure, Loading } from '../ui/states.tsx'
import { uiTexts } from '../ui/texts.ts'
import { forbidden } from './base-routes.ts'
import { appTexts } from './texts.ts'

/** A page in another one's place, with the way to the start. */
function FaultFrame({ title, children }: { title: string; children: ReactNode }) {
  const { notFound } = useTexts(appTexts)
  return (
    <Container size="sm" py="xl">
      <PageHeader title={title} />
      {children}
      <LinkButton to="/" variant="default" mt="lg" display="table">
        {notFound.action}
      </LinkButton>
    </Container>
  )
}

/** The error boundary of every page: the frame around it stays. */
export function FaultPage({ error, reset }: ErrorComponentProps) {
  const texts = useTexts(uiTexts)
  const isForbidden = isApiError(error, 403)
  return (
    <FaultFrame title={isForbidden ? texts.forbidden : texts.errors.title}>
      <Failure error={error} onRetry={isForbidden ? undefined : reset} />
    </FaultFrame>
  )
}

/** No such page, or none for this kind of account. */
export function NotFoundPage({ data }: { data?: unknown }) {
  const texts = useTexts(uiTexts)
  const { notFound } = useTexts(appTexts)
  if (data === forbidden) return <FaultFrame title={texts.forbidden}>{texts.errors[403]}</FaultFrame>
  return <FaultFrame title={notFound.title}>{notFound.text}</FaultFrame>
}

export function PendingPage() {
  return (
    <Container size="lg" py="xl">
      <Loading />
    </Container>
  )
}
