/** What stands in a page's place when it cannot be shown. */
import { Container } from '@mantine/core'
import { IconMapOff } from '@tabler/icons-react'
import type { ErrorComponentProps } from '@tanstack/react-router'
import { isApiError } from '../api/errors.ts'
import { useTexts } from '../i18n/preferences.tsx'
import { LinkButton } from '../ui/links.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { Empty, Failure, Loading } from '../ui/states.tsx'
import { uiTexts } from '../ui/texts.ts'
import { appTexts } from './texts.ts'

/** The error boundary of every page: the frame around it stays. */
export function FaultPage({ error, reset }: ErrorComponentProps) {
  const texts = useTexts(uiTexts)
  const { notFound } = useTexts(appTexts)
  const isForbidden = isApiError(error, 403)
  return (
    <Container size="sm" py="xl">
      <PageHeader title={isForbidden ? texts.forbidden : texts.errors.title} />
      <Failure error={error} onRetry={isForbidden ? undefined : reset} />
      <LinkButton to="/" variant="default" mt="lg">
        {notFound.action}
      </LinkButton>
    </Container>
  )
}

export function NotFoundPage() {
  const { notFound } = useTexts(appTexts)
  return (
    <Container size="sm" py="xl">
      <PageHeader title={notFound.title} />
      <Empty
        icon={IconMapOff}
        title={notFound.text}
        action={
          <LinkButton to="/" mt="sm">
            {notFound.action}
          </LinkButton>
        }
      />
    </Container>
  )
}

export function PendingPage() {
  return (
    <Container size="lg" py="xl">
      <Loading />
    </Container>
  )
}
